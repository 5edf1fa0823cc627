/** Parses flags in their simplest form without the parser, which takes a tenth of a start to load. */
import type { Option } from "../settings/option.ts";

/** A value that needs no parsing begins with neither a dash nor a quote. */
const PLAIN = /^[^-"'\s]/;

/**
 * Parses `--name value` and `--name=value` of options with a value, and `--name` of boolean ones.
 *
 * @returns the same as the parser; `undefined` when the arguments have any other form, so that the parser must decide.
 */
export function plainFlags(
  args: readonly string[],
  options: readonly Option[],
): Readonly<Record<string, unknown>> | undefined {
  const values: Record<string, unknown> = {};
  for (let index = 0; index < args.length; index++) {
    const [, name = "", given] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(args[index]!) ?? [];
    const option = options.find((one) => one.name === name);
    if (option === undefined || option.positional === true || option.bare !== undefined) return undefined;
    const isList = option.type === "list";
    if (Object.hasOwn(values, name) && !isList) return undefined;
    if (option.type === "boolean") {
      const next = args[index + 1];
      if (given !== undefined || (next !== undefined && !next.startsWith("--"))) return undefined;
      values[name] = true;
      continue;
    }
    const value = given ?? args[++index];
    if (value === undefined || !PLAIN.test(value)) return undefined;
    values[name] = isList ? [...((values[name] as string[] | undefined) ?? []), value] : value;
  }
  return values;
}
