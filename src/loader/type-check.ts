/** Finds type errors of modules with nothing but this executable. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runTool } from "#runtime/self";
import { printable } from "../observe/printable.ts";
import { closureOf } from "./closure.ts";

export interface TypeCheckOptions {
  /** The folder with the types of the SDK. */
  readonly sdk: string;
  /** Ends the compiler, which makes the result meaningless. @default none */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks the types. @returns the errors as the compiler prints them, with paths relative to the working directory;
 * empty when there are none.
 */
export async function typeErrors(files: readonly string[], { sdk, signal }: TypeCheckOptions): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "binnacle-check-"));
  try {
    const config = join(folder, "tsconfig.json");
    const include = files.filter(isUsable).map((file) => resolve(file));
    if (include.length === 0) return "";
    await writeFile(
      config,
      JSON.stringify({ extends: join(sdk, "tsconfig.json"), compilerOptions: { allowJs: true }, files: include }),
    );
    const { status, stdout, stderr } = await runTool(["check", "--no-script", "--no-pretty", "-p", config], {
      signal,
    });
    if (status === 0) return "";
    return stdout.trim() === "" ? stderr.trim() : stdout.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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

/** Splits the result of {@link typeErrors} into errors; indented lines belong to the one before. */
export function readTypeErrors(text: string): readonly TypeError[] {
  const errors: { file: string | undefined; reason: string }[] = [];
  for (const line of text.split("\n")) {
    const start = /^(.+)\((\d+),(\d+)\): error (TS\d+: .*)$/.exec(line);
    const last = errors.at(-1);
    if (start !== null) errors.push({ file: `${start[1]}:${start[2]}:${start[3]}`, reason: start[4]! });
    else if (last !== undefined && line.startsWith(" ")) last.reason += ` ${line.trim()}`;
    else if (line.trim() !== "") errors.push({ file: undefined, reason: line.trim() });
  }
  return errors;
}
