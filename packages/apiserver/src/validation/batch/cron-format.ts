/** Reads cron schedules and time zones as kube-apiserver does. */

const bounds: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const descriptors = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/** Returns the mistake in a schedule, in the server's words. */
export function cronProblem(schedule: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=([^ ]*) /.exec(schedule);
  if (zone?.[1] && !isZone(zone[1])) return `provided bad location ${zone[1]}: unknown time zone ${zone[1]}`;
  const text = schedule.slice(zone?.[0].length ?? 0).trim();
  if (text.startsWith("@")) {
    if (descriptors.has(text)) return undefined;
    if (text.startsWith("@every ")) {
      const duration = text.slice(7);
      return /^([\d.]+(ns|us|µs|ms|s|m|h))+$/.test(duration)
        ? undefined
        : `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`;
    }
    return `unrecognized descriptor: ${text}`;
  }
  const fields = text.split(/\s+/).filter((part) => part !== "");
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  for (const [index, field] of fields.entries()) {
    const [low = 0, high = 0] = bounds[index] ?? [];
    for (const part of field.split(",")) {
      const wrong = rangeProblem(part, { low, high, names: index === 3 ? months : index === 4 ? days : [] });
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
}

interface Range {
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}

function rangeProblem(part: string, { low, high, names }: Range): string | undefined {
  const [span = "", step, ...more] = part.split("/");
  if (more.length > 0) return `too many slashes: ${part}`;
  const ends = span.split("-");
  if (ends.length > 2) return `too many hyphens: ${part}`;
  let [first, last] = [low, high];
  if (span !== "*" && span !== "?") {
    const numbers = ends.map((text) => numberOf(text, names));
    const bad = numbers.findIndex((number) => Number.isNaN(number));
    if (bad >= 0) {
      const text = ends[bad] ?? "";
      return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
    }
    first = numbers[0] ?? low;
    last = numbers[1] ?? (step === undefined ? first : high);
  }
  if (step !== undefined) {
    if (!/^\d+$/.test(step))
      return `failed to parse int from ${step}: strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`;
    if (Number(step) === 0) return `step of range should be a positive number: ${part}`;
  }
  if (first < low) return `beginning of range (${first}) below minimum (${low}): ${part}`;
  if (last > high) return `end of range (${last}) above maximum (${high}): ${part}`;
  if (first > last) return `beginning of range (${first}) beyond end of range (${last}): ${part}`;
  return undefined;
}

function numberOf(text: string, names: readonly string[]): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return names === months ? named + 1 : named;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** Time zones are names of files, so their case matters. */
export function isZone(name: string): boolean {
  try {
    const { timeZone: found } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return found === name || found.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
