/** The form of an option of a command, and the types of the values that follow from a table of options. */

export type OptionType = "string" | "boolean" | "number" | "list" | "duration" | "bytes";

export interface Option {
  readonly name: string;
  readonly describe: string;
  readonly type: OptionType;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  /** The meaning of a flag without a value. @default a value is required */
  readonly bare?: string;
  /** Whether it is a positional argument instead of a flag. */
  readonly positional?: true;
  /** A letter that stands for the name, as in `-p path`. */
  readonly letter?: string;
}

/** The type of an option's value. */
export interface TypeOf {
  readonly string: string;
  readonly boolean: boolean;
  readonly number: number;
  readonly list: readonly string[];
  /** A duration in milliseconds. */
  readonly duration: number;
  /** A number of bytes, written as a quantity such as `256Mi`. */
  readonly bytes: number;
}

type ValueOf<O extends Option> = O extends { readonly choices: readonly (infer C)[] } ? C : TypeOf[O["type"]];

/** The values that a command receives; those with a default are always present. */
export type ValuesOf<Options extends readonly Option[]> = {
  readonly [O in Options[number] as O["name"]]: O extends { readonly default: unknown }
    ? ValueOf<O>
    : ValueOf<O> | undefined;
};
