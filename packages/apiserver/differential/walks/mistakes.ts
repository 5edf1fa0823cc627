/** Makes random mistakes in objects, and random patches of them. */
import type { Dice } from "../sampling.ts";
import { at, changedAt, pathsOf } from "../places.ts";
import type { Loose } from "../session.ts";

export type Fields = Readonly<Record<string, unknown>>;

const replacements: readonly unknown[] = [
  null,
  "",
  "x",
  "Not Valid!",
  "a".repeat(70),
  "a-b.c",
  true,
  false,
  0,
  1,
  -1,
  [],
  {},
  ["x"],
  [null],
  { a: "b" },
  { "": "b" },
  { a: null },
  "10%",
  "1Gi",
  "*",
  "/",
  "ä",
];

/** Returns the object with one random change somewhere below its metadata. */
export function mistaken<T extends object>(dice: Dice, object: T): T {
  const places = pathsOf(object).filter(
    ([first]) => first !== "metadata" && first !== "apiVersion" && first !== "kind",
  );
  if (places.length === 0) return object;
  const path = dice.one(places);
  const value = at(object, path);
  const way = dice.one(["replace", "replace", "remove", "rename", "double", "add", "swap"]);
  if (way === "remove") return changedAt(object, path, undefined);
  if (way === "double" && Array.isArray(value)) return changedAt(object, path, [...value, ...structuredClone(value)]);
  if (way === "swap") return changedAt(object, path, structuredClone(at(object, dice.one(places))));
  const last = path.at(-1);
  if (way === "rename" && typeof last === "string")
    return changedAt(changedAt(object, [...path.slice(0, -1), last.toUpperCase()], value), path, undefined);
  if (way === "add" && typeof value === "object" && value !== null && !Array.isArray(value))
    return changedAt(object, path, { ...value, [dice.one(["extra", "name", "spec", "Kind"])]: dice.one(replacements) });
  return changedAt(object, path, dice.one(replacements));
}

/** Returns a part of the object, with random values in places. */
export function someOf(dice: Dice, object: Fields): Fields {
  const whole = mistaken<Fields>(dice, mistaken<Fields>(dice, object));
  const entries = Object.entries(whole).filter(() => dice.chance(0.6));
  return Object.fromEntries(entries);
}

/** Returns a JSON pointer to a random place of the object, or beyond it. */
function pointer(dice: Dice, object: object): string {
  // Messages would quote the version, of which each server has its own.
  const places = pathsOf(object).filter((path) => path[1] !== "resourceVersion");
  const path = places.length === 0 ? [] : dice.one(places);
  const parts = path.map((step) => String(step).replaceAll("~", "~0").replaceAll("/", "~1"));
  if (dice.chance(0.25)) parts.push(dice.one(["-", "0", "99", "nope", "", "a~1b"]));
  if (dice.chance(0.05)) return dice.one(["", "/", "nope", "/~2", "/metadata/labels/x"]);
  return `/${parts.join("/")}`;
}

export function jsonPatch(dice: Dice, object: object): unknown {
  if (dice.chance(0.08)) return dice.one([{}, null, [null], [{}], "x", [{ op: "add" }], [{ op: "nope", path: "/x" }]]);
  return Array.from({ length: 1 + Math.floor(dice.next() * 3) }, () => {
    const op = dice.one(["add", "add", "remove", "replace", "replace", "move", "copy", "test"]);
    const path = pointer(dice, object);
    if (op === "remove") return { op, path };
    if (op === "move" || op === "copy") return { op, from: pointer(dice, object), path };
    return { op, path, value: dice.one([...replacements, "changed"]) };
  });
}

const directives: readonly Fields[] = [
  { $patch: "delete" },
  { $patch: "replace" },
  { $patch: "merge" },
  { $patch: "nope" },
  { $retainKeys: ["a"] },
  { $setElementOrder: [] },
  { "$deleteFromPrimitiveList/finalizers": ["example.com/stay"] },
];

/** Returns a strategic merge patch with directives in random places. */
export function strategicPatch(dice: Dice, object: Fields): Loose {
  const patch = someOf(dice, object);
  if (dice.chance(0.5)) return patch;
  const places = pathsOf(patch).filter((path) => {
    const value = at(patch, path);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  });
  if (places.length === 0 || dice.chance(0.2)) return { ...patch, ...dice.one(directives) };
  const path = dice.one(places);
  return changedAt(patch, path, { ...(at(patch, path) as object), ...dice.one(directives) });
}
