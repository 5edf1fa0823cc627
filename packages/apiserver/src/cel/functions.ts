/** The functions and operators of expressions, as Kubernetes 1.36 declares them. */
import table from "./functions.txt" with { type: "text" };
import { parseType, type Type } from "./type.ts";

export interface Overload {
  /** The identifier, such as `add_string`. */
  readonly id: string;
  /** Whether it is called as a method of its first argument. */
  readonly isMember: boolean;
  readonly args: readonly Type[];
  readonly result: Type;
  /** The names of its type parameters. */
  readonly params: readonly string[];
}

let lines: ReadonlyMap<string, readonly string[]> | undefined;
const known = new Map<string, readonly Overload[]>();

/** Returns all overloads of a function in the order in which they are tried; `undefined` when there is no such function. */
export function overloadsOf(name: string): readonly Overload[] | undefined {
  const found = known.get(name);
  if (found !== undefined) return found;
  lines ??= readLines();
  const own = lines.get(name);
  if (own === undefined) return undefined;
  const overloads = own.map(overloadOf);
  known.set(name, overloads);
  return overloads;
}

function readLines(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of table.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const name = line.slice(0, line.indexOf(" "));
    const same = found.get(name);
    if (same) same.push(line);
    else found.set(name, [line]);
  }
  return found;
}

/** Parses `name id f|m result args… [params]`, with semicolons between the arguments. */
function overloadOf(line: string): Overload {
  const [, id = "", style, result = "", args = "", params = ""] = line.split(" ");
  return {
    id,
    isMember: style === "m",
    args: args === "-" ? [] : args.split(";").map(parseType),
    result: parseType(result),
    params: params === "" ? [] : params.split(","),
  };
}
