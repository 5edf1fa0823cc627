/** The message of an error for Events and conditions, which more people may read than the data that the error quotes. */
import { printable } from "../observe/printable.ts";
import type { KeyRun } from "./key-run.ts";

/** The longest note of an Event. */
const MOST = 1_024;

/** The error's class and its message, on one line and without sensitive values that the run has read or written. */
export function failureMessage(run: KeyRun, error: unknown): string {
  let text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name !== "Error") text = `${error.name}: ${text}`;
  // Truncated last: a truncated value would not be recognised as sensitive.
  return printable(run.clean(text).replaceAll(/\s*\n\s*/g, " ")).slice(0, MOST);
}
