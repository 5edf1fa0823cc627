/** Finds type errors of modules with only this executable. */
import { resolve } from "node:path";
import { checkTypes } from "#runtime/type-checker";
import { printable } from "../observe/printable.ts";
import type { CheckTypesOptions } from "../platform/type-checker.ts";
import { closureOf } from "./closure.ts";

/** Checks the types. @returns the errors as the compiler prints them, with relative paths; empty for none. */
export async function typeErrors(files: readonly string[], options: CheckTypesOptions): Promise<string> {
  const included = files.filter(isUsable).map((file) => resolve(file));
  return included.length === 0 ? "" : await checkTypes(included, options);
}

/** Whether the compiler may read the file; loading reports what is wrong with others. */
function isUsable(file: string): boolean {
  return printable(file) === file && closureOf(file).unusable === undefined;
}

export interface TypeError {
  /** The file, with line and column. */
  readonly file: string | undefined;
  readonly reason: string;
}

/** Splits the result of {@link typeErrors} into errors; indented lines belong to the line before them. */
export function readTypeErrors(text: string): readonly TypeError[] {
  const errors: { file: string | undefined; reason: string }[] = [];
  for (const line of text.split("\n")) {
    const start = /^(.+)\((\d+),(\d+)\): error (TS\d+: .*)$/s.exec(line);
    const last = errors.at(-1);
    if (start !== null) errors.push({ file: `${start[1]}:${start[2]}:${start[3]}`, reason: start[4]! });
    else if (last !== undefined && line.startsWith(" ")) last.reason += ` ${line.trim()}`;
    else if (line.trim() !== "") errors.push({ file: undefined, reason: line.trim() });
  }
  return errors;
}
