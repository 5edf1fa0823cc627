/** Parses and formats times as Go does. */
import { goQuoted } from "../field-error.ts";

const layout = "2006-01-02T15:04:05Z07:00";
/** The six digits are mandatory. */
const microLayout = "2006-01-02T15:04:05.000000Z07:00";
const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns the time in whole seconds and UTC; an `Error` with Go's message when it is invalid. */
export function canonicalTime(text: string): string | Error {
  const parsed = parse(text);
  return parsed instanceof Error ? parsed : `${new Date(parsed.seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Returns the time in microseconds and UTC. */
export function canonicalMicroTime(text: string): string | Error {
  const parsed = parse(text, microLayout);
  if (parsed instanceof Error) return parsed;
  const fraction = parsed.fraction.slice(0, 6).padEnd(6, "0");
  return `${new Date(parsed.seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}

function parse(text: string, as = layout): { readonly seconds: number; readonly fraction: string } | Error {
  const [, year, month, day, hour, minute, second, fraction = "", zone] = form.exec(text) ?? [];
  if (!zone || (as === microLayout && fraction.length !== 7)) return firstMistake(text, as);
  const outOfRange = rangeMistake({ year, month, day, hour, minute, second });
  if (outOfRange) return new Error(`parsing time ${timeQuoted(text)}: ${outOfRange} out of range`);
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

const parts: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}/, "2006"],
  [/^-/, "-"],
  [/^\d\d/, "01"],
  [/^-/, "-"],
  [/^\d\d/, "02"],
  [/^T/, "T"],
  [/^\d\d/, "15"],
  [/^:/, ":"],
  [/^\d\d/, "04"],
  [/^:/, ":"],
  [/^\d\d(?:[.,]\d+)?/, "05"],
  [/^(?:Z|[+-]\d\d:\d\d)/, "Z07:00"],
];

const microParts: typeof parts = [...parts.slice(0, 10), [/^\d\d/, "05"], [/^[.,]\d{6}/, ".000000"], parts[11]!];

function firstMistake(text: string, as: string): Error {
  let rest = text;
  for (const [pattern, element] of as === layout ? parts : microParts) {
    const found = pattern.exec(rest);
    if (!found) {
      return new Error(
        `parsing time ${timeQuoted(text)} as ${goQuoted(as)}: cannot parse ${timeQuoted(rest)} as ${goQuoted(element)}`,
      );
    }
    rest = rest.slice(found[0].length);
  }
  return new Error(`parsing time ${timeQuoted(text)}: extra text: ${timeQuoted(rest)}`);
}

/** Quotes a text as Go's package for times does, which shows the bytes of what is not ASCII. */
function timeQuoted(text: string): string {
  const shown = [...Buffer.from(text)].map((byte) => {
    const character = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7f) return `\\x${byte.toString(16).padStart(2, "0")}`;
    return character === '"' || character === "\\" ? `\\${character}` : character;
  });
  return `"${shown.join("")}"`;
}
