/** Converts between points in time and the wall clock of a time zone. */

/** A date and a time of day. Months and days count from 1, weekdays from 0 for Sunday. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly weekday: number;
}

export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat | undefined;

  /**
   * @param name a name of the IANA database. @default the machine's own zone. @throws RangeError for an unknown name
   */
  constructor(name: string = new Intl.DateTimeFormat().resolvedOptions().timeZone) {
    this.name = name;
    if (name === "UTC") return;
    this.#format = new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", ...FIELDS });
  }

  /** Returns the wall-clock time. @param time milliseconds since the epoch */
  at(time: number): WallTime {
    const wall = new Date(time + this.offset(time));
    return {
      year: wall.getUTCFullYear(),
      month: wall.getUTCMonth() + 1,
      day: wall.getUTCDate(),
      hour: wall.getUTCHours(),
      minute: wall.getUTCMinutes(),
      weekday: wall.getUTCDay(),
    };
  }

  /**
   * Returns the moment with this wall-clock time; months and days may be out of range.
   *
   * For a wall-clock time that occurs twice or never, the result is that of Go's `time.Date`.
   */
  time({ year, month, day, hour = 0 }: Pick<WallTime, "year" | "month" | "day"> & { readonly hour?: number }): number {
    const wall = Date.UTC(year, month - 1, day, hour);
    const guess = wall - this.offset(wall);
    return wall - this.offset(guess);
  }

  /** Returns by how many milliseconds the wall clock is ahead of UTC. */
  offset(time: number): number {
    if (this.#format === undefined) return 0;
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(time)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
  }
}

const FIELDS = {
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
} as const;

/** Formats a time as RFC 3339 with the zone's offset. */
export function wallTimestamp(time: number, zone: TimeZone): string {
  const offset = zone.offset(time);
  const wall = new Date(time + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${wall}Z`;
  const minutes = Math.abs(offset) / 60_000;
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  return `${wall}${offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
