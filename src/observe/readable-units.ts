/** Durations and sizes as people read them. */

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** Writes milliseconds with at most two units: `850ms`, `12s`, `5m30s`, `3h5m`, `4d2h`. */
export function readableAge(ms: number): string {
  const first = UNITS.findIndex(([, length]) => ms >= length);
  const unit = UNITS[first];
  if (unit === undefined) return `${Math.max(0, Math.round(ms))}ms`;
  const [name, length] = unit;
  const [lesser, small] = UNITS[first + 1] ?? ["", Infinity];
  const rest = Math.floor((ms % length) / small);
  return `${Math.floor(ms / length)}${name}${rest > 0 ? `${rest}${lesser}` : ""}`;
}

/** Writes milliseconds of something quick: `0.8 ms`, `25 ms`, `1m4s`. */
export function readableMillis(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 1_000 ? `${Math.round(ms)} ms` : readableAge(ms);
}

/** Writes bytes as `512 B`, `3.4 KiB`, `12 MiB`. */
export function readableSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
