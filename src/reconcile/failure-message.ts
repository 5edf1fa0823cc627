/** What an object says of an error, in Events and conditions, which more people may read than what the error quotes. */
import { printable } from "../observe/printable.ts";
import type { KeyRun } from "./key-run.ts";

/** As long as the note of an Event may be. */
const MOST = 1_024;

/** The error's class and its message, on one line and without sensitive values that the run has read or written. */
export function failureMessage(run: KeyRun, error: unknown): string {
  let text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name !== "Error") text = `${error.name}: ${text}`;
  // Cut last: half of a value would not be found.
  return printable(run.clean(text).replaceAll(/\s*\n\s*/g, " ")).slice(0, MOST);
}
