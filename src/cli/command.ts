/** What a command of the binary is. */
import type { OfferedPackages } from "../platform/module-host.ts";
import type { Option, ValuesOf } from "./option.ts";

/** What only the binary's entry knows: what is embedded in it. */
export interface Embedded {
  readonly version: string;
  /** The packages that modules import from inside the binary, by their exact names. */
  readonly offered: () => Promise<OfferedPackages>;
  /** The SDK's declarations and code: a file of zstd-compressed JSON, `{ path: text }`; `undefined` when not built in. */
  readonly sdk: () => Promise<string | undefined>;
  /** The entry's file when the sources run unbuilt. */
  readonly source: string | undefined;
}

/** The outside of a command. */
export interface Host {
  readonly embedded: Embedded;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Command<Options extends readonly Option[] = readonly Option[]> {
  readonly options: Options;
  /** @returns the exit status. */
  run(values: ValuesOf<Options>, host: Host): Promise<number>;
}

/** Infers the values' types from the options. */
export function command<const Options extends readonly Option[]>(definition: Command<Options>): Command {
  return definition;
}

/** What the scripts of `completion` call; the words after it are a shell's name and a line up to the cursor. */
export const COMPLETE = "__complete";
