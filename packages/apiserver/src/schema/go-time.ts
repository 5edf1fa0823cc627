/** Parses and formats times as Go does. */
import { goQuoted } from "../field-error.ts";

const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns the time in whole seconds and UTC; an `Error` when it is invalid. */
export function canonicalTime(text: string): string | Error {
  const parsed = parse(text);
  return parsed instanceof Error ? parsed : `${new Date(parsed.seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Returns a time in UTC with six decimal places of its seconds, or the error of a text that is none. */
export function canonicalMicroTime(text: string): string | Error {
  const parsed = parse(text);
  if (parsed instanceof Error) return parsed;
  if (parsed.fraction.length !== 6)
    return new Error(`parsing time ${goQuoted(text)}: it has no six digits of a fraction`);
  return `${new Date(parsed.seconds * 1000).toISOString().slice(0, 19)}.${parsed.fraction}Z`;
}

function parse(text: string): { readonly seconds: number; readonly fraction: string } | Error {
  const [, year, month, day, hour, minute, second, fraction = "", zone] = form.exec(text) ?? [];
  if (!zone) return new Error(`parsing time ${goQuoted(text)}: it is no time of RFC 3339`);
  const outOfRange = rangeMistake({ year, month, day, hour, minute, second });
  if (outOfRange) return new Error(`parsing time ${goQuoted(text)}: ${outOfRange} out of range`);
  const offset =
    zone === "Z" ? 0 : (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))) * (zone[0] === "-" ? -1 : 1);
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  return { seconds: date.getTime() / 1000 - offset * 60, fraction: fraction.slice(1) };
}

function rangeMistake(parts: Readonly<Record<string, string | undefined>>): string | undefined {
  const { year, month, day, hour, minute, second } = parts;
  if (Number(month) < 1 || Number(month) > 12) return "month";
  if (Number(hour) > 23) return "hour";
  if (Number(minute) > 59) return "minute";
  if (Number(second) > 59) return "second";
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) < 1 || Number(day) > days ? "day" : undefined;
}
