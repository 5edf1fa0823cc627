/** Validates the query options of a pod's log. */
import { type FieldError, goQuoted } from "../field-error.ts";
import { canonicalTime } from "../schema/go-time.ts";
import { badRequest, invalid } from "../status.ts";

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
  const time = since ? canonicalTime(since) : "";
  if (time instanceof Error) throw badRequest(time.message);
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
