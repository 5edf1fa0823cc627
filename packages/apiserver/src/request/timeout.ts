/** Checks the `timeout` that a request asks for. */
import { goQuoted } from "../field-error.ts";
import type { Attributes } from "../hooks.ts";
import { badRequest } from "../status.ts";

const endless: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/**
 * Checks the option `timeout`, which every request but those without an end may have. It has no effect beyond that,
 * because no request takes long enough here.
 *
 * @param asked the attributes of the request; called only where there is an option
 * @throws StatusError 400 when it is no duration of Go
 */
export function checkTimeout(query: URLSearchParams, asked: () => Attributes): void {
  const timeout = query.get("timeout");
  if (timeout === null || timeout === "") return;
  const problem = durationProblem(timeout);
  if (problem === undefined) return;
  const { verb, subresource, isResource } = asked();
  if (isResource && (verb === "watch" || verb === "proxy" || endless.has(subresource))) return;
  throw badRequest(`invalid timeout specified in the request URL - time: ${problem}`);
}

/** Nanoseconds by unit; the micro sign has two code points. */
const units: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  "\u00B5s": 1e3,
  "\u03BCs": 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Returns what Go says about a text that is no duration; `undefined` when it is one. */
function durationProblem(text: string): string | undefined {
  const invalid = `invalid duration ${goQuoted(text)}`;
  let rest = text.replace(/^[-+]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return invalid;
  let total = 0;
  while (rest !== "") {
    const [, whole = "", fraction = ""] = /^([0-9]*)((?:\.[0-9]*)?)/.exec(rest) ?? [];
    if (whole === "" && fraction.length < 2) return invalid;
    rest = rest.slice(whole.length + fraction.length);
    const unit = /^[^.0-9]*/.exec(rest)?.[0] ?? "";
    if (unit === "") return `missing unit in duration ${goQuoted(text)}`;
    if (!Object.hasOwn(units, unit)) return `unknown unit ${goQuoted(unit)} in duration ${goQuoted(text)}`;
    total += Number(`${whole === "" ? "0" : whole}${fraction === "." ? "" : fraction}`) * units[unit]!;
    if (total > 2 ** 63) return invalid;
    rest = rest.slice(unit.length);
  }
  return undefined;
}
