/** Formats durations for people, as kubectl does. */

/** Returns the time since a timestamp; `<unknown>` when there is none. */
export function age(time: unknown, now: number): string {
  const since = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(since) ? "<unknown>" : humanDuration(now - since);
}

/** Formats milliseconds in at most two units. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60 * 2) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return two([minutes, "m"], [seconds % 60, "s"]);
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.trunc(seconds / 3600);
  if (hours < 8) return two([hours, "h"], [minutes % 60, "m"]);
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return two([days, "d"], [hours % 24, "h"]);
  if (hours < 24 * 365 * 2) return `${days}d`;
  if (hours < 24 * 365 * 8) return two([Math.trunc(days / 365), "y"], [days % 365, "d"]);
  return `${Math.trunc(days / 365)}y`;
}

function two([first, unit]: readonly [number, string], [second, smaller]: readonly [number, string]): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${smaller}`;
}
