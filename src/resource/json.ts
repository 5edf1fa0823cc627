/** Compares values as the JSON that they are encoded to. */

/** The fields of an object of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object of JSON, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two values are equal as JSON; `undefined` fields count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  // The fields are counted instead of looked up, because an object has inherited members such as `constructor`.
  let more = 0;
  for (const name in a) {
    if (a[name] === undefined) continue;
    if (!sameJson(a[name], b[name]) || (name === "__proto__" && !Object.hasOwn(b, name))) return false;
    more--;
  }
  for (const name in b) if (b[name] !== undefined) more++;
  return more === 0;
}
