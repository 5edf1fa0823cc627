/** What came of a situation on one cluster, ready to be compared. */
import { Names } from "./names.ts";
import { isOfEveryNamespace, normalizeObject } from "./normalize.ts";
import type { Happening, Loose } from "./recorder.ts";
import type { Situation } from "./situation.ts";
import type { Snapshot } from "./stage.ts";

/** By part of the outcome, such as a step's snapshot; then by object. */
export type Outcome = Readonly<Record<string, unknown>>;

export function outcomeOf(situation: Situation, played: Played): Outcome {
  const { snapshots, failure } = played;
  const all = inOrder(played.happenings);
  const names = new Names(all, situation);
  // What follows the last step, only the Events tell of: they come late.
  const happenings = inOrder(played.happenings.slice(0, snapshots.at(-1)?.happened));
  const outcome: Record<string, unknown> = {};
  if (failure !== undefined) outcome["failure"] = failure;
  for (const [index, { label, objects }] of snapshots.entries()) {
    outcome[`${index + 1} ${label}`] = byName(objects, names);
  }
  outcome["created and deleted"] = counts(happenings, names);
  if (situation.sequence) outcome["sequence"] = sequences(happenings, names, situation.sequence === "conditions");
  if (situation.order) outcome["order"] = order(happenings, names);
  if (situation.events !== false) outcome["events"] = events(all, names, situation.events === "reasons");
  return outcome;
}

export interface Played {
  readonly snapshots: readonly Snapshot[];
  readonly happenings: readonly Happening[];
  readonly failure: string | undefined;
}

/** What of the objects of a snapshot is compared, by name and with the names in order. */
export function snapshotOf(
  situation: Situation,
  { snapshot, happenings }: { readonly snapshot: Snapshot; readonly happenings: readonly Happening[] },
): object {
  const objects = byName(snapshot.objects, new Names(inOrder(happenings), situation));
  return Object.fromEntries(Object.entries(objects).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Each kind is watched by itself: between kinds, versions tell what came first. */
function inOrder(happenings: readonly Happening[]): Happening[] {
  const version = ({ object }: Happening): number => Number(object.metadata.resourceVersion);
  return happenings.toSorted((one, other) => version(one) - version(other));
}

/** Interchangeable objects, such as the pods of a ReplicaSet, are an unordered list. */
function byName(objects: readonly Loose[], names: Names): Record<string, unknown> {
  const lists: Record<string, unknown[]> = {};
  for (const object of objects) {
    if (isOfEveryNamespace(object)) continue;
    (lists[names.of(object)] ??= []).push(normalizeObject(object, names));
  }
  for (const list of Object.values(lists)) {
    list.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  return lists;
}

/** How many objects of a name there were, and how many are left. */
function counts(happenings: readonly Happening[], names: Names): Record<string, string> {
  const byKind = new Map<string, { created: Set<string>; deleted: Set<string> }>();
  for (const { type, object } of ofInterest(happenings)) {
    const name = names.of(object);
    const count = byKind.get(name) ?? { created: new Set(), deleted: new Set() };
    byKind.set(name, count);
    count.created.add(object.metadata.uid);
    if (type === "DELETED") count.deleted.add(object.metadata.uid);
  }
  return Object.fromEntries(
    [...byKind].map(([name, { created, deleted }]) => [name, `${created.size} created, ${deleted.size} deleted`]),
  );
}

/** Reasons of conditions that a controller may step over when pods are quick. */
const passing: ReadonlySet<string> = new Set(["ReplicaSetUpdated"]);

/** Of each object but pods: where its counts turned, and through which states its conditions went. */
function sequences(happenings: readonly Happening[], names: Names, onlyConditions: boolean): Record<string, unknown> {
  const table: Record<string, Record<string, (number | string)[]>> = {};
  for (const { type, object } of ofInterest(happenings)) {
    if (object.kind === "Pod" || type === "DELETED") continue;
    const of = (table[names.of(object)] ??= {});
    const counts = onlyConditions ? [] : counted(object);
    for (const [field, value] of counts) turn((of[field] ??= []) as number[], value);
    for (const { type, status, reason } of object.status?.conditions ?? []) {
      const states = (of[`condition ${type}`] ??= []);
      if (passing.has(reason)) continue;
      const state = `${status} ${reason ?? ""}`;
      if (states.at(-1) !== state) states.push(state);
    }
  }
  return table;
}

function counted({ spec, status }: Loose): [string, number][] {
  const amounts: [string, number][] = [];
  if (spec?.replicas !== undefined) amounts.push(["wanted", spec.replicas]);
  for (const name of ["succeeded", "failed", "numberReady"]) {
    if (status?.[name] !== undefined) amounts.push([name, status[name]]);
  }
  return amounts;
}

/** Keeps the first value, and each after which the direction changed. */
function turn(values: number[], value: number): void {
  const last = values.at(-1);
  if (last === value) return;
  const before = values.at(-2);
  if (last !== undefined && before !== undefined && last > before === value > last) values.pop();
  values.push(value);
}

/** Creations and deletions; adjacent ones of one name are one. */
function order(happenings: readonly Happening[], names: Names): string[] {
  const entries: { readonly what: string; count: number }[] = [];
  const known = new Set<string>();
  for (const { type, object } of ofInterest(happenings)) {
    const { uid } = object.metadata;
    if (type !== "DELETED" && known.has(uid)) continue;
    known.add(uid);
    const what = `${type === "DELETED" ? "-" : "+"} ${names.of(object)}`;
    const last = entries.at(-1);
    if (last?.what === what) last.count++;
    else entries.push({ what, count: 1 });
  }
  return entries.map(({ what, count }) => (count === 1 ? what : `${what} ×${count}`));
}

/** Recorded by controllers; of pods and nodes only what stands in for machines has something to say. */
function events(happenings: readonly Happening[], names: Names, withoutNotes: boolean): string[] {
  const lines = new Set<string>();
  for (const { object } of happenings) {
    if (object.kind !== "Event" || object.regarding?.kind === "Pod") continue;
    const { regarding, type, reason, note } = object;
    const about = `${regarding.kind} ${names.text(regarding.name)}: ${type} ${reason}`;
    lines.add(withoutNotes ? about : `${about}: ${names.text(note ?? "")}`);
  }
  return [...lines].sort();
}

function ofInterest(happenings: readonly Happening[]): Happening[] {
  return happenings.filter(({ object }) => object.kind !== "Event" && !isOfEveryNamespace(object));
}
