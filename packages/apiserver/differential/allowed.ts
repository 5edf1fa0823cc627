/** Intended differences: each is an exact kind, verb and field with its reason, and never a status code or a reason. */
import type { Difference, ExchangeDifference } from "./compare.ts";

export interface Allowed {
  /** The case's name up to its first space. */
  readonly kind: string;
  /** The HTTP method, or WATCH. */
  readonly verb: string;
  readonly field: string;
  readonly why: string;
}

/** Parses the list: one per line, `kind verb field reason…`. */
export function parseAllowed(text: string): Allowed[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  if (lines.length > 20) throw new Error(`${lines.length} allowed differences are listed: at most 20 may be`);
  return lines.map((line) => {
    const [kind = "", verb = "", field = "", ...why] = line.split(/\s+/);
    if (why.length === 0) throw new Error(`The allowed difference ${JSON.stringify(line)} has no reason`);
    if (/^(\(code\)|code|reason|.*\.reason)$/.test(field)) throw new Error(`${line}: codes and reasons never differ`);
    return { kind, verb, field, why: why.join(" ") };
  });
}

/** Returns the remaining differences. */
export function withoutAllowed(
  found: readonly ExchangeDifference[],
  allowed: readonly Allowed[],
): ExchangeDifference[] {
  return found
    .map((each) => ({ ...each, differences: each.differences.filter((one) => !isAllowed(each, one, allowed)) }))
    .filter((each) => each.differences.length > 0);
}

/** The index of an item is omitted from a field: `details.causes[].message`. */
function isAllowed(where: ExchangeDifference, difference: Difference, allowed: readonly Allowed[]): boolean {
  const field = difference.field.replaceAll(/\[\d+\]/g, "[]");
  const kind = where.caseName.split(" ")[0];
  const verb = where.expected?.call.method;
  return allowed.some((each) => each.kind === kind && each.verb === verb && each.field === field);
}
