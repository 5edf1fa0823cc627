/** Flags that are written in the plainest way, read without the parser: loading it takes a tenth of a start. */
import type { Option } from "./option.ts";

/** What a value may begin with that stands for itself: no dash and no quote. */
const PLAIN = /^[^-"'\s]/;

/**
 * Reads `--name value` and `--name=value` of options that take one, and `--name` of those that are true or false.
 *
 * @returns what the parser would make of them; `undefined` when anything is written otherwise, and the parser is to decide.
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
