/** Comparison of JSON values. */

/** Whether two values are the same JSON; a property that is undefined counts as absent. */
export function deepEquals(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index++) if (!deepEquals(one[index], other[index])) return false;
    return true;
  }
  return !Array.isArray(other) && sameFields(one as Fields, other as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function sameFields(one: Fields, other: Fields): boolean {
  for (const name of Object.keys(one)) {
    if (!deepEquals(one[name], Object.hasOwn(other, name) ? other[name] : undefined)) return false;
  }
  for (const name of Object.keys(other)) {
    if (other[name] !== undefined && !Object.hasOwn(one, name)) return false;
  }
  return true;
}
