/**
 * The message of an error for Events and conditions, which more people may read than the data that the error quotes.
 */
import { onOneLine } from "../observe/printable.ts";
import type { KeyRun } from "./key-run.ts";
import { LONGEST_TEXT } from "./kept-secrets.ts";

/** The longest note of an Event. */
const MOST = 1_024;

/** The error's class and its message, on one line and without sensitive values that the run has read or written. */
export function failureMessage(run: KeyRun, error: unknown): string {
  let text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name !== "Error") text = `${error.name}: ${text}`;
  // Truncated to its note last: a truncated value would not be recognised as sensitive.
  return onOneLine(run.clean(text).slice(0, LONGEST_TEXT)).slice(0, MOST);
}
