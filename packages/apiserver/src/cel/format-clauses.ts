/** Checks the clauses of a literal format string against the types of its arguments, as cel-go's validator does. */
import type { Checked } from "./checker.ts";
import type { CelNode } from "./node.ts";
import type { Places } from "./places.ts";

export interface FormatProblem {
  readonly at: number;
  readonly what: string;
}

interface Clause {
  readonly types: readonly string[];
  readonly refusal: string;
}

const decimal: Clause = { types: ["int", "uint"], refusal: "decimal clause can only be used on integers" };
const fixed: Clause = { types: ["double", "string"], refusal: "fixed-point clause can only be used on doubles" };
const hex: Clause = {
  types: ["int", "uint", "string", "bytes"],
  refusal: "only integers, byte buffers, and strings can be formatted as hex",
};
const text: Clause = {
  types: [
    "list",
    "map",
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "type",
    "null_type",
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
  ],
  refusal:
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
};

const clauses: Readonly<Record<string, Clause>> = {
  s: text,
  d: decimal,
  f: fixed,
  e: { ...fixed, refusal: "scientific clause can only be used on doubles" },
  b: { types: ["int", "uint", "bool"], refusal: "only integers and bools can be formatted as binary" },
  x: hex,
  X: hex,
  o: { ...decimal, refusal: "octal clause can only be used on integers" },
};

/** A call of `format` on a literal string with a literal list. */
export interface FormatCall {
  readonly call: CelNode;
  readonly format: string;
  readonly args: readonly CelNode[];
}

/** Returns the first mistake of a call, with the position that cel-go reports. */
export function formatProblem(
  { call, format, args }: FormatCall,
  { checked, places }: { readonly checked: Checked; readonly places: Places },
): FormatProblem | undefined {
  const wrong = (what: string): FormatProblem => ({ at: places.of(call), what });
  const unparsed = (what: string): FormatProblem => wrong(`could not parse formatting clause: ${what}`);
  let index = 0;
  for (const match of format.matchAll(/%(%|(\.\d*)?([^]?))/gu)) {
    const [, whole, precision, letter = ""] = match;
    if (whole === "%") continue;
    if (whole === "") return wrong("unexpected end of string");
    const arg = args[index];
    if (arg === undefined) return wrong(`index ${index} out of range`);
    if (precision !== undefined && letter === "")
      return unparsed("error while parsing precision: could not find end of precision specifier");
    if (precision === ".")
      return unparsed(
        'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
      );
    const clause = Object.hasOwn(clauses, letter) ? clauses[letter] : undefined;
    if (clause === undefined) return unparsed(`unrecognized formatting clause "${letter}"`);
    const unfit = misfit(arg, clause, checked);
    if (unfit !== undefined) {
      const what = `error during formatting: ${clause.refusal}, was given ${checked.typeOf(unfit).name}`;
      return { at: places.of(unfit), what };
    }
    index++;
  }
  return args.length > index
    ? wrong(`too many arguments supplied to string.format (expected ${index}, got ${args.length})`)
    : undefined;
}

/** Returns the part of an argument's type that a clause does not accept; `%s` is also checked inside lists and maps. */
function misfit(node: CelNode, clause: Clause, checked: Checked): CelNode | undefined {
  const { name } = checked.typeOf(node);
  if (name !== "dyn" && !clause.types.includes(name)) return node;
  if (clause !== text || (node.op !== "list" && node.op !== "map")) return undefined;
  for (const part of (node.args as readonly unknown[]).flat() as CelNode[]) {
    const problem = misfit(part, clause, checked);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
