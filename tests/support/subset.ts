/** Whether what is declared is there, by value: what `children.sync` promises. */

type Fields = Readonly<Record<string, unknown>>;

/** Maps may hold more; of a list of named items each is looked up by its name, and other lists must be as long. */
export function isSubset(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole)) return part.length === 0 && whole === undefined;
    const lists = [part, whole] as unknown[][];
    if (lists.every((list) => list.every((item) => isFields(item) && typeof item["name"] === "string"))) {
      const places = part.map((item: Fields) => (whole as Fields[]).findIndex(({ name }) => name === item["name"]));
      return places.every((place, at) => place > (places[at - 1] ?? -1) && isSubset(part[at], whole[place]));
    }
    return part.length === whole.length && part.every((item, at) => isSubset(item, whole[at]));
  }
  if (!isFields(part)) return sameQuantity(part, whole) || (part === "" && whole === undefined);
  if (!isFields(whole)) return false;
  return Object.entries(part).every(([name, value]) => value === undefined || isSubset(value, whole[name]));
}

/** The server writes 1000m as 1. */
function sameQuantity(part: unknown, whole: unknown): boolean {
  return part === whole || (part === "1000m" && whole === "1");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
