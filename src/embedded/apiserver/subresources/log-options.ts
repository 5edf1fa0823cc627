/** What the query asks of a pod's log. */
import { type FieldError, goQuoted } from "../field-error.ts";
import { badRequest, invalid } from "../status.ts";

const full = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const largest = 2n ** 63n;

/** @throws StatusError 400 for what cannot be read, 422 for what cannot be */
export function checkLogOptions(query: URLSearchParams, name: string): void {
  const numbers = new Map<string, bigint>();
  const since = query.get("sinceTime");
  const read = (option: string): void => {
    const text = query.get(option);
    if (text === null) return;
    const problem = (what: string): Error => badRequest(`strconv.ParseInt: parsing ${goQuoted(text)}: ${what}`);
    if (!/^[+-]?\d+$/.test(text)) throw problem("invalid syntax");
    const value = BigInt(text.replace(/^\+/, ""));
    if (value >= largest || value < -largest) throw problem("value out of range");
    numbers.set(option, value);
  };
  read("sinceSeconds");
  if (since && !full.test(since)) throw badRequest(timeProblem(since));
  read("tailLines");
  read("limitBytes");
  const errors: FieldError[] = [];
  const atLeast = (option: string, least: bigint, detail: string): void => {
    const value = numbers.get(option);
    if (value !== undefined && value < least)
      errors.push({ type: "Invalid", field: option, badValue: Number(value), detail });
  };
  atLeast("tailLines", 0n, "must be greater than or equal to 0");
  atLeast("limitBytes", 1n, "must be greater than 0");
  if (numbers.has("sinceSeconds") && since !== null) {
    const detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
    errors.push({ type: "Forbidden", field: "", detail });
  } else atLeast("sinceSeconds", 1n, "must be greater than 0");
  // Which of the streams is asked for is a feature that is off.
  if (query.get("stream")) errors.push({ type: "Forbidden", field: "stream", detail: "may not be specified" });
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, name, { errors });
}

/** The parts of RFC 3339's form, as Go names what it could not read. */
const form = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^(0[1-9]|1[0-2])/],
  ["-", /^-/],
  ["02", /^(0[1-9]|[12]\d|3[01])/],
  ["T", /^T/],
  ["15", /^([01]\d|2[0-3])/],
  [":", /^:/],
  ["04", /^[0-5]\d/],
  [":", /^:/],
  ["05", /^[0-5]\d(\.\d+)?/],
  ["Z07:00", /^(Z|[+-]\d\d:\d\d)/],
] as const;

function timeProblem(text: string): string {
  let rest = text;
  for (const [part, pattern] of form) {
    const found = pattern.exec(rest);
    if (found === null)
      return `parsing time ${goQuoted(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${goQuoted(rest)} as ${goQuoted(part)}`;
    rest = rest.slice(found[0].length);
  }
  return `parsing time ${goQuoted(text)}: extra text: ${goQuoted(rest)}`;
}
