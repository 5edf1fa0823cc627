/** Comparing values as the JSON that they become. */

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Equal as JSON; `undefined` fields count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  // Counted and not looked up: an object answers to names such as `constructor` without having such a field.
  let more = 0;
  for (const name in a) {
    if (a[name] === undefined) continue;
    if (!sameJson(a[name], b[name])) return false;
    more--;
  }
  for (const name in b) if (b[name] !== undefined) more++;
  return more === 0;
}
