/** Parses the flags of a command with yargs' parser. */
import type { Command } from "./command.ts";
import type { Option } from "../settings/option.ts";
import { configOption } from "./option.ts";
import { UsageError } from "./usage-error.ts";

/** How arguments are parsed, here and for help and completion. */
export const parsing: Readonly<Record<string, boolean>> = {
  "camel-case-expansion": false,
  "dot-notation": false,
  "parse-numbers": false,
  "parse-positional-numbers": false,
  "greedy-arrays": false,
};

/**
 * Parses the flags of one command with yargs' parser alone; the rest of yargs, such as help texts and translations,
 * takes a tenth of the memory and of the time of a start.
 */
export async function parseFlags(
  args: readonly string[],
  command: Pick<Command, "options">,
): Promise<Readonly<Record<string, unknown>>> {
  const { default: yargsParser } = await import("yargs-parser");
  const flags = [...command.options, configOption].filter((option) => option.positional !== true);
  const named = (type: Option["type"]): string[] =>
    flags.filter((option) => option.type === type).map(({ name }) => name);
  const valued = flags.filter(({ type }) => type !== "boolean").map(({ name }) => name);
  const { argv, error } = yargsParser.detailed([...args], {
    array: named("list"),
    boolean: named("boolean"),
    string: valued,
    narg: Object.fromEntries(flags.filter(needsValue).map(({ name }) => [name, 1])),
    alias: Object.fromEntries(flags.flatMap(({ name, letter }) => (letter === undefined ? [] : [[name, letter]]))),
    configuration: { ...parsing, "strip-aliased": true },
  });
  if (error !== null) {
    throw new UsageError(error.message.replace(/^Not enough arguments following: (.*)$/, "--$1 needs a value"));
  }
  const { _: words, ...given } = argv as { readonly _: readonly unknown[]; readonly [flag: string]: unknown };
  const positionals = command.options.filter((option) => option.positional === true);
  const rest = positionals.find(({ type }) => type === "list");
  const single = positionals.filter((option) => option !== rest);
  const more = words.slice(single.length).map(String);
  if (rest === undefined && more[0] !== undefined) throw new UsageError(`Unexpected argument '${more[0]}'`);
  const first = words.slice(0, single.length).map((word, index) => [single[index]!.name, String(word)] as const);
  return {
    ...given,
    ...Object.fromEntries(first),
    ...(rest !== undefined && more.length > 0 && { [rest.name]: more }),
  };
}

export function needsValue({ type, bare }: Option): boolean {
  return type !== "boolean" && bare === undefined;
}
