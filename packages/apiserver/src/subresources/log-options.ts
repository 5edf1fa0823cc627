/** Validates the query options of a pod's log. */
import { type FieldError, goQuoted } from "../field-error.ts";
import { badRequest, invalid } from "../status.ts";

const full = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const largest = 2n ** 63n;

/** Validates the options. @throws StatusError 400 for one that cannot be parsed, 422 for an invalid one */
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
  if (since) {
    const problem = full.test(since) ? rangeProblem(since) : timeProblem(since);
    if (problem !== undefined) throw badRequest(problem);
  }
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
    errors.push({ type: "Forbidden", field: "[]", detail });
  } else atLeast("sinceSeconds", 1n, "must be greater than 0");
  // Selecting a stream belongs to a feature that is disabled.
  if (query.has("stream")) errors.push({ type: "Forbidden", field: "stream", detail: "may not be specified" });
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, name, { errors });
}

/** The parts of RFC 3339's layout, as Go names the part that it could not parse. */
const form = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d\d/],
  ["-", /^-/],
  ["02", /^\d\d/],
  ["T", /^T/],
  ["15", /^\d\d/],
  [":", /^:/],
  ["04", /^\d\d/],
  [":", /^:/],
  ["05", /^\d\d(\.\d+)?/],
  ["Z07:00", /^(Z|[+-]\d\d:\d\d)/],
] as const;

/** Reports a number that is out of range for a month, day or time of day. */
function rangeProblem(text: string): string | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.slice(0, 19).split(/[-T:]/).map(Number);
  const wrong = [
    ["month", month < 1 || month > 12],
    ["hour", hour > 23],
    ["minute", minute > 59],
    ["second", second > 59],
    ["day", day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()],
  ].find(([, is]) => is === true);
  return wrong && `parsing time ${goQuoted(text)}: ${String(wrong[0])} out of range`;
}

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
