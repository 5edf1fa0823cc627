/** Parses command lines as Go programs do, for the Go programs that this executable stands in for. */
import { isIP } from "node:net";

/**
 * The type of a flag's value. The values of a `list` are separated by commas; it may be repeated, as `texts` may, whose
 * values are whole. Of the others the last one counts.
 */
export type FlagType = "boolean" | "integer" | "number" | "duration" | "address" | "text" | "texts" | "list";

/** A wrong command line. Its message is worded as Go programs word it. */
export class FlagError extends Error {
  override readonly name = "FlagError" as const;
}

export interface FlagOptions {
  /** The type of each flag. */
  readonly types: Pick<ReadonlyMap<string, FlagType>, "get">;
  /** Long names by their letters. */
  readonly letters?: Readonly<Record<string, string>>;
}

/** The values by the names of their flags, in the order of the command line. */
export type FlagValues = ReadonlyMap<string, readonly string[]>;

/**
 * Parses `--name=value`, `--name value`, and `--name` for booleans. Underscores in a name are dashes.
 *
 * @throws FlagError for an unknown flag, a missing or wrong value, and an argument that is no flag.
 */
export function parseGoFlags(args: readonly string[], { types, letters = {} }: FlagOptions): FlagValues {
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const argument = args[index]!;
    if (argument === "--") {
      rest.push(...args.slice(index + 1));
      break;
    }
    const [, long, letter, attached] = /^(?:--([^=]+)|-([^-=]))(?:=?(.*))?$/s.exec(argument) ?? [];
    const given = argument.includes("=") ? argument.slice(argument.indexOf("=") + 1) : attached || undefined;
    if (long === undefined && letter === undefined) {
      rest.push(argument);
      continue;
    }
    const name = long === undefined ? letters[letter ?? ""] : long.replaceAll("_", "-");
    const type = name === undefined ? undefined : types.get(name);
    if (name === undefined || type === undefined)
      throw new FlagError(
        long === undefined ? `unknown shorthand flag: '${letter}' in ${argument}` : `unknown flag: --${long}`,
      );
    const value = given ?? (type === "boolean" ? "true" : args[++index]);
    if (value === undefined) throw new FlagError(`flag needs an argument: --${name}`);
    const expected = expectation(type, value);
    if (expected !== undefined)
      throw new FlagError(`invalid argument ${JSON.stringify(value)} for "--${name}" flag: expected ${expected}`);
    const more = type === "list" ? value.split(",").filter((one) => one !== "") : [value];
    values.set(name, type === "list" || type === "texts" ? [...(values.get(name) ?? []), ...more] : more);
  }
  if (rest.length > 0) throw new FlagError(`unexpected arguments ${JSON.stringify(rest)}`);
  return values;
}

/** Whether a boolean flag has this value; `undefined` when the text is no boolean. */
export function goBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true;
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : undefined;
}

/** Says what a value of this type looks like; `undefined` when this is one. */
function expectation(type: FlagType, value: string): string | undefined {
  if (type === "boolean") return goBoolean(value) === undefined ? "true or false" : undefined;
  if (type === "integer") return /^[+-]?\d+$/.test(value) ? undefined : "an integer";
  if (type === "number") return Number.isFinite(Number(value || "-")) ? undefined : "a number";
  if (type === "address") return isIP(value) === 0 ? "an IP address" : undefined;
  return type === "duration" && goDuration(value) === undefined ? "a duration such as 1m30s" : undefined;
}

const milliseconds: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

/** The milliseconds of a duration; `undefined` when the text is none. */
export function goDuration(text: string): number | undefined {
  const [, sign, sum = ""] = /^([+-]?)(0|(?:\d+(?:\.\d+)?(?:h|ms?|s|us|µs|ns))+)$/.exec(text) ?? [];
  if (sum === "") return undefined;
  const parts = [...sum.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)([a-zµ]+)/g)];
  const total = parts.reduce((all, [, count, unit]) => all + Number(count) * (milliseconds[unit ?? ""] ?? 0), 0);
  return sign === "-" ? -total : total;
}
