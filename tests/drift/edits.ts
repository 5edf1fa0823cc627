/** What others may want to be otherwise in a child. */
import { annotationsOf, clone, isMap, type Json, type JsonMap, metaOf } from "./json.ts";
import { type Leaf, leavesOf, put, type Step, take, valueAt } from "./leaves.ts";
import type { Random } from "./random.ts";
import type { Shape } from "./schema.ts";

export const MARKS = "binnacle.dev/";

export interface Ground {
  readonly live: JsonMap;
  /** What is declared, in the server's fields. */
  readonly declared: JsonMap;
  /** What another child of this kind might declare. */
  readonly other: JsonMap;
  /** States of the child at earlier times. */
  readonly earlier: readonly JsonMap[];
  readonly shape: Shape;
  readonly random: Random;
}

/** Returns the child as others want it; `undefined` where this cannot be done to it. */
type Edit = (ground: Ground) => JsonMap | undefined;

const isOwn = ([path]: readonly [string, Leaf]): boolean => path !== "/apiVersion" && path !== "/kind";

function leaves(object: JsonMap, shape: Shape): readonly Leaf[] {
  return [...leavesOf(object, shape).all].filter(isOwn).map(([, leaf]) => leaf);
}

/** A declared field gets another value. */
const change: Edit = ({ live, declared, other, shape, random }) => {
  const edited = clone(live);
  const all = leaves(declared, shape).filter(({ isKey }) => !isKey);
  if (all.length === 0) return undefined;
  for (
    let count = random.weighted([
      [1, 3],
      [2, 1],
    ]);
    count > 0;
    count--
  ) {
    const { steps, value } = random.pick(all);
    const theirs = valueAt(other, steps);
    const same = theirs === undefined || Bun.deepEquals(theirs, value);
    put(edited, steps, same || random.chance(0.3) ? changed(value, random) : theirs);
  }
  return edited;
};

/** Another value that a field of this type may have. */
function changed(value: Json, random: Random): Json {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return changedText(value);
  if (Array.isArray(value)) {
    const form = random.int(4);
    if (value.length === 0 || form === 0)
      return [...value, value[0] === undefined ? "theirs" : changed(value[0], random)];
    if (form === 1) return value.slice(1);
    if (form === 2 && value.length > 1) return value.toReversed();
    return [changed(value[0]!, random), ...value.slice(1)];
  }
  if (!isMap(value)) return "theirs";
  const names = Object.keys(value);
  if (names.length === 0) return { theirs: "x" };
  const name = random.pick(names);
  return { ...value, [name]: changed(value[name]!, random) };
}

function changedText(value: string): string {
  if (/^\d+(\.\d+)?(m|[KMG]i)?$/.test(value)) return `7${value}`;
  if (/^[A-Za-z0-9+/]{2,}={1,2}$/.test(value)) return "dGhlaXJz";
  return value === "" ? "theirs" : `${value}x`;
}

/** A declared field goes. */
const remove: Edit = ({ live, declared, shape, random }) => {
  const edited = clone(live);
  const all = leaves(declared, shape);
  if (all.length === 0) return undefined;
  for (
    let count = random.weighted([
      [1, 3],
      [2, 1],
    ]);
    count > 0;
    count--
  )
    take(edited, random.pick(all).steps);
  return edited;
};

/** The maps and lists around declared fields. */
function containers({ declared, shape }: Ground): readonly (readonly Step[])[] {
  const editions = new Map<string, readonly Step[]>();
  for (const { steps } of leaves(declared, shape))
    for (let length = 1; length < steps.length; length++) {
      const part = steps.slice(0, length);
      if (length > 1 || steps[0] === undefined || !("field" in steps[0]) || steps[0].field !== "metadata")
        editions.set(JSON.stringify(part), part);
    }
  return [...editions.values()];
}

function inContainer(
  ground: Ground,
  becomes: (was: Json, steps: readonly Step[]) => Json | undefined,
): JsonMap | undefined {
  const edited = clone(ground.live);
  const all = containers(ground).filter((steps) => valueAt(edited, steps) !== undefined);
  if (all.length === 0) return undefined;
  const steps = ground.random.pick(all);
  const value = becomes(valueAt(edited, steps)!, steps);
  if (value === undefined) take(edited, steps);
  else put(edited, steps, value);
  return edited;
}

/** A map or list around declared fields is emptied, or goes. */
const empty: Edit = (ground) =>
  inContainer(ground, (was) => (ground.random.chance(0.4) ? undefined : Array.isArray(was) ? [] : {}));

/** Every entry of a map or list around declared fields is somebody else's afterwards. */
const takeAll: Edit = (ground) => {
  const { other, random } = ground;
  return inContainer(ground, (was, steps) => {
    const theirs = valueAt(other, steps);
    if (theirs !== undefined && random.chance(0.5)) return theirs;
    if (!isMap(was)) return theirs ?? changed(was, random);
    const entries = Object.entries(was);
    if (random.chance(0.5)) return Object.fromEntries(entries.map(([name, value]) => [name, changed(value, random)]));
    const [, value] = entries[0] ?? [];
    return { theirs: value === undefined || isMap(value) ? "x" : value };
  });
};

/** One more field, entry or item. */
const add: Edit = ({ live, declared, other, shape, random }) => {
  const edited = clone(live);
  const own = leavesOf(declared, shape).all;
  const more = [...leavesOf(other, shape).all].filter(isOwn).filter(([path]) => !own.has(path));
  if (more.length > 0 && random.chance(0.6)) {
    const [, { steps, value }] = random.pick(more);
    put(edited, steps, value);
    return edited;
  }
  const where = random.pick(["labels", "annotations"]);
  put(edited, [{ field: "metadata" }, { field: where }, { field: "theirs" }], random.pick(["x", ""]));
  return edited;
};

/** A part of the object becomes what it is in another one. */
const graft: Edit = (ground) => {
  const { other, random } = ground;
  return inContainer(ground, (was, steps) => valueAt(other, steps) ?? (random.chance(0.5) ? undefined : was));
};

/** An item of a list gets another key. */
const rekey: Edit = ({ live, declared, shape, random }) => {
  const edited = clone(live);
  const keys = leaves(declared, shape).filter(({ isKey, steps }) => isKey && valueAt(edited, steps) !== undefined);
  if (keys.length === 0) return undefined;
  const { steps, value } = random.pick(keys);
  const item = valueAt(edited, steps.slice(0, -1)) as JsonMap;
  item[(steps.at(-1) as { readonly field: string }).field] = changed(value, random);
  return edited;
};

/** A list has another order. */
const reorder: Edit = ({ live, declared, shape, random }) => {
  const edited = clone(live);
  const lists: Json[][] = [];
  const orders = leavesOf(declared, shape).orders;
  for (const { steps, value } of leaves(declared, shape)) {
    if (Array.isArray(value)) lists.push(valueAt(edited, steps) as Json[]);
    for (const [index, step] of steps.entries())
      if ("item" in step) lists.push(valueAt(edited, steps.slice(0, index)) as Json[]);
  }
  const long = [...new Set(lists)].filter((list) => Array.isArray(list) && list.length > 1);
  if (long.length === 0 || orders === undefined) return undefined;
  random.pick(long).reverse();
  return edited;
};

/** What binnacle keeps in annotations goes, or is edited. */
const marks: Edit = ({ live, random }) => {
  const edited = clone(live);
  const annotations = annotationsOf(edited);
  const own = Object.keys(annotations).filter((name) => name.startsWith(MARKS));
  if (own.length === 0) return undefined;
  const form = random.int(3);
  for (const name of form === 0 ? own : [random.pick(own)]) {
    if (form === 2) annotations[name] = `${String(annotations[name])}x`;
    else delete annotations[name];
  }
  return edited;
};

/** All labels and annotations go, binnacle's marks with them. */
const strip: Edit = ({ live }) => {
  const edited = clone(live);
  delete metaOf(edited)["labels"];
  delete metaOf(edited)["annotations"];
  return edited;
};

/** The reference to the owner goes, controls no more, or gets company. */
const owner: Edit = ({ live, random }) => {
  const edited = clone(live);
  const metadata = metaOf(edited);
  const references = (metadata["ownerReferences"] ?? []) as JsonMap[];
  const [ours] = references;
  if (ours === undefined) return undefined;
  switch (random.int(4)) {
    case 0:
      ours["controller"] = false;
      break;
    case 1:
      delete ours["controller"];
      break;
    case 2:
      references.push({
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "theirs",
        uid: "11111111-1111-1111-1111-111111111111",
      });
      break;
    default:
      if (random.chance(0.5)) delete metadata["ownerReferences"];
      else metadata["ownerReferences"] = [];
  }
  return edited;
};

/** An earlier state comes back. */
const restore: Edit = ({ live, earlier, random }) => {
  const before = earlier.filter((one) => metaOf(one)["uid"] === metaOf(live)["uid"]);
  if (before.length === 0) return undefined;
  const edited = clone(random.pick(before));
  metaOf(edited)["resourceVersion"] = metaOf(live)["resourceVersion"]!;
  return edited;
};

/** Nothing is otherwise; the form of the request does something of its own. */
const nothing: Edit = ({ live }) => clone(live);

export const edits = {
  change,
  remove,
  empty,
  takeAll,
  add,
  graft,
  rekey,
  reorder,
  marks,
  strip,
  owner,
  restore,
  nothing,
};
export type EditName = keyof typeof edits;

const weights: readonly (readonly [EditName, number])[] = [
  ["change", 6],
  ["remove", 5],
  ["empty", 3],
  ["takeAll", 4],
  ["add", 4],
  ["graft", 3],
  ["rekey", 2],
  ["reorder", 2],
  ["marks", 1.5],
  ["strip", 0.7],
  ["owner", 1.5],
  ["restore", 1],
  ["nothing", 1],
];

export function someEdit(random: Random): EditName {
  return random.weighted(weights);
}
