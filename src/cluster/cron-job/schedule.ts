/**
 * Parses schedules in cron's form, with the meaning that Kubernetes gives them.
 *
 * It follows robfig/cron v3, the library that Kubernetes uses. Other cron parsers differ in `5/15`, in which fields
 * count as unrestricted, in the syntax that they accept besides, and in the hours that daylight saving time skips or
 * repeats.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax
 */
import { type Duration, parseDuration } from "../../resource/duration.ts";
import { TimeZone, type WallTime } from "./local-time.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A schedule that does not match within this many years never matches. */
const YEARS = 5;

export interface Schedule {
  /** Returns the first time after `time`, both in milliseconds since the epoch; `undefined` when there is none. */
  next(time: number): number | undefined;
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** Whether the field is unrestricted, with `*` or `?`. */
  readonly isOpen: boolean;
}

interface Fields {
  readonly minute: Field;
  readonly hour: Field;
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const NAMED: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

/** Parses a schedule. @param zone used unless the schedule names its own. @throws Error that says what is wrong. */
export function parseSchedule(text: string, zone: TimeZone): Schedule {
  const [, name, rest] = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/s.exec(text) ?? [];
  if (name !== undefined && rest !== undefined) return parseSchedule(rest, new TimeZone(name));
  const expression = NAMED.get(text.trim()) ?? text.trim();
  if (expression.startsWith("@every ")) return every(parseDuration(expression.slice(7).trim() as Duration, "@every"));
  if (expression.startsWith("@")) throw new Error(`unrecognized descriptor: ${expression}`);
  const parts = expression.split(/\s+/);
  if (parts.length !== 5) throw new Error(`expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts;
  const fields: Fields = {
    minute: parseField(minute, { low: 0, high: 59 }),
    hour: parseField(hour, { low: 0, high: 23 }),
    day: parseField(day, { low: 1, high: 31 }),
    month: parseField(month, { low: 1, high: 12, names: MONTHS }),
    weekday: parseField(weekday, { low: 0, high: 6, names: DAYS }),
  };
  return { next: (time) => nextTime(fields, time, zone) };
}

/** Returns a schedule with an interval in whole seconds, at least one. */
function every(duration: number): Schedule {
  const seconds = Math.max(1, Math.floor(duration / SECOND)) * SECOND;
  return { next: (time) => Math.floor(time / SECOND) * SECOND + seconds };
}

interface Bounds {
  readonly low: number;
  readonly high: number;
  /** The names of the values, from `low` on. */
  readonly names?: readonly string[];
}

function parseField(text: string, bounds: Bounds): Field {
  const values = new Set<number>();
  let isOpen = false;
  for (const part of text.split(",").filter((one) => one !== "")) {
    const [span = "", step, ...more] = part.split("/");
    const [first = "", last, ...tooMany] = span.split("-");
    if (more.length > 0) throw new Error(`too many slashes: ${part}`);
    if (tooMany.length > 0) throw new Error(`too many hyphens: ${part}`);
    const isAll = first === "*" || first === "?";
    const by = step === undefined ? 1 : numberIn(step);
    const start = isAll ? bounds.low : numberIn(first, bounds);
    let end = isAll ? bounds.high : last === undefined ? start : numberIn(last, bounds);
    if (step !== undefined && last === undefined) end = bounds.high; // 5/15 means 5-59/15
    check(part, { start, end, by }, bounds);
    isOpen ||= isAll && by === 1;
    for (let value = start; value <= end; value += by) values.add(value);
  }
  return { values, isOpen };
}

function numberIn(text: string, { low, names }: Partial<Bounds> = {}): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + (low ?? 0);
  if (!/^\d+$/.test(text)) throw new Error(`failed to parse int from ${text}`);
  return Number(text);
}

function check(part: string, range: { start: number; end: number; by: number }, { low, high }: Bounds): void {
  const { start, end, by } = range;
  if (start < low) throw new Error(`beginning of range (${start}) below minimum (${low}): ${part}`);
  if (end > high) throw new Error(`end of range (${end}) above maximum (${high}): ${part}`);
  if (start > end) throw new Error(`beginning of range (${start}) beyond end of range (${end}): ${part}`);
  if (by === 0) throw new Error(`step of range should be a positive number: ${part}`);
}

/** When both fields name days, a day that matches either one matches. */
function isDay({ day, weekday }: Fields, wall: WallTime): boolean {
  const [isInMonth, isInWeek] = [day.values.has(wall.day), weekday.values.has(wall.weekday)];
  return day.isOpen || weekday.isOpen ? isInMonth && isInWeek : isInMonth || isInWeek;
}

/** Advances field by field, from months to minutes, and starts over where a field wraps around. */
function nextTime(fields: Fields, after: number, zone: TimeZone): number | undefined {
  let time = Math.floor(after / SECOND) * SECOND + SECOND;
  let wall = zone.at(time);
  const lastYear = wall.year + YEARS;
  let isMoved = false;
  /** Resets the fields that are smaller than the first one that moves. */
  const move = (start: number, step: (from: number) => number) => {
    time = step(isMoved ? time : start);
    isMoved = true;
    wall = zone.at(time);
  };
  search: while (wall.year <= lastYear) {
    while (!fields.month.values.has(wall.month)) {
      const { year, month } = wall;
      move(zone.time({ year, month, day: 1 }), (from) => nextMonth(from, zone));
      if (wall.month === 1) continue search;
    }
    while (!isDay(fields, wall)) {
      const { year, month, day } = wall;
      move(zone.time({ year, month, day }), (from) => nextDay(from, zone));
      if (wall.day === 1) continue search;
    }
    while (!fields.hour.values.has(wall.hour)) {
      const { year, month, day, hour } = wall;
      move(zone.time({ year, month, day, hour }), (from) => from + HOUR);
      if (wall.hour === 0) continue search;
    }
    while (!fields.minute.values.has(wall.minute)) {
      move(Math.floor(time / MINUTE) * MINUTE, (from) => from + MINUTE);
      if (wall.minute === 0) continue search;
    }
    if (time % MINUTE === 0) return time;
    move(time, (from) => Math.floor(from / MINUTE) * MINUTE + MINUTE);
  }
  return undefined;
}

function nextMonth(time: number, zone: TimeZone): number {
  const { year, month, day, hour } = zone.at(time);
  return zone.time({ year, month: month + 1, day, hour });
}

/** Midnight does not exist when the clock goes forward at that hour. */
function nextDay(time: number, zone: TimeZone): number {
  const { year, month, day, hour } = zone.at(time);
  const next = zone.time({ year, month, day: day + 1, hour });
  const first = zone.at(next).hour;
  return first === 0 ? next : next + (first > 12 ? 24 - first : -first) * HOUR;
}
