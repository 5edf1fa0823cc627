/** The interface of the binary's commands. */
import type { ModuleEntry } from "../loader/scan.ts";
import type { OfferedPackages } from "../platform/module-host.ts";
import type { Option, ValuesOf } from "../settings/option.ts";

/** The contents of the binary, which only its entry point knows. */
export interface Embedded {
  readonly version: string;
  /** Versions of the packages that are part of this program, by name. */
  readonly dependencies?: Readonly<Record<string, string>>;
  /** The packages that modules can import from inside the binary, by their exact names. */
  readonly offered: () => Promise<OfferedPackages>;
  /**
   * The SDK's declarations and code: a file of zstd-compressed JSON, `{ path: text }`; `undefined` when it is not built
   * in.
   */
  readonly sdk: () => Promise<string | undefined>;
  /** The program of the thread that watches the event loop. @default none, and the event loop is not watched */
  readonly stallThread?: string | undefined;
  /** The entry's file when the sources run without a build. */
  readonly source: string | undefined;
  /** The operator, in an executable that `binnacle build` has made. */
  readonly operator?: Operator | undefined;
}

/** An executable that `binnacle build` has made. */
export interface Operator {
  /** The name of the executable. */
  readonly name: string;
  /** The modules inside the executable; `undefined` when they are outside. */
  readonly modules: readonly ModuleEntry[] | undefined;
}

/** The environment of a command. */
export interface Host {
  readonly embedded: Embedded;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Command<Options extends readonly Option[] = readonly Option[]> {
  readonly options: Options;
  /** Runs the command. @returns the exit status. */
  run(values: ValuesOf<Options>, host: Host): Promise<number>;
}

/** Infers the types of the values from the options. */
export function command<const Options extends readonly Option[]>(definition: Command<Options>): Command {
  return definition;
}

/**
 * The command that the scripts of `completion` call; the arguments are a shell's name and the line up to the cursor.
 */
export const COMPLETE = "__complete";
