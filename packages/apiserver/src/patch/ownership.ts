/** Computes who owns which fields after a write, like the updater of structured-merge-diff. */
import type { Atom } from "./atom.ts";
import { FieldSet } from "./field-set.ts";
import type { Managed, Managers } from "./managers.ts";
import { reconcileWithSchema } from "./reconcile-set.ts";
import { type Comparison, compareTyped, exclude } from "./typed-compare.ts";
import { mergeTyped } from "./typed-merge.ts";
import { typeErrors } from "./typed-validate.ts";
import { equalValues, fieldSetOf, removeItems } from "./typed-values.ts";

/** A value in one version. */
export interface Typed {
  readonly value: unknown;
  readonly atom: Atom;
}

/** Describes the versions of a kind. */
export interface Versions {
  /** The version of the request. */
  readonly apiVersion: string;
  /** Converts a value to another version; `undefined` when that version is no longer served. */
  convert(typed: Typed, apiVersion: string): Typed | undefined;
  /** Fields that the write cannot change, by version. */
  ignored(apiVersion: string): FieldSet | undefined;
}

export interface Conflict {
  readonly manager: string;
  /** The printed paths. */
  readonly paths: readonly string[];
}

export class Conflicts extends Error {
  readonly conflicts: readonly Conflict[];
  constructor(conflicts: readonly Conflict[]) {
    super("conflicts");
    this.conflicts = conflicts;
  }
}

/** Thrown when an object does not have the types of a version in which somebody owns fields of it. */
export class Unconvertible extends Error {}

interface Conversion {
  readonly typed: Typed;
  readonly apiVersion: string;
  readonly what: "old" | "new";
}

/**
 * Converts a value and checks its types in the new version, because a conversion may keep fields that the new version
 * lacks.
 */
function convertedTo(versions: Versions, { typed, apiVersion, what }: Conversion): Typed | undefined {
  const converted = versions.convert(typed, apiVersion);
  if (converted === undefined || converted === typed) return converted;
  const wrong = typeErrors(converted.value, converted.atom, { allowDuplicates: true });
  if (wrong !== undefined) throw new Unconvertible(`failed to convert ${what} object: ${wrong}`);
  return converted;
}

interface Write {
  readonly live: Typed;
  readonly next: Typed;
  readonly versions: Versions;
  /** The manager that writes; its own entry stays as it is. */
  readonly manager: string;
  readonly force: boolean;
}

/** Removes changed fields from all other managers. It changes `managers`. @throws Conflicts unless forced */
function takeOver(managers: Managers, { live, next, versions, manager, force }: Write): Comparison {
  const comparisons = new Map<string, Comparison>();
  const whole = compareTyped(live.value, next.value, live.atom);
  const own = exclude(whole, versions.ignored(versions.apiVersion));
  comparisons.set(versions.apiVersion, own);
  const conflicts = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  for (const [key, managed] of managers) {
    if (key === manager) continue;
    let comparison = comparisons.get(managed.apiVersion);
    if (!comparison) {
      const { apiVersion } = managed;
      const before = convertedTo(versions, { typed: live, apiVersion, what: "old" });
      const after = convertedTo(versions, { typed: next, apiVersion, what: "new" });
      if (!before || !after) {
        managers.delete(key);
        continue;
      }
      const ignored = versions.ignored(managed.apiVersion);
      comparison = exclude(compareTyped(before.value, after.value, before.atom), ignored);
      comparisons.set(managed.apiVersion, comparison);
    }
    const conflict = managed.set.intersection(comparison.modified.union(comparison.added));
    if (!conflict.empty) conflicts.set(key, conflict);
    if (!comparison.removed.empty) removed.set(key, comparison.removed);
  }
  if (!force && conflicts.size > 0) {
    throw new Conflicts([...conflicts].map(([key, set]) => ({ manager: key, paths: [...set.printed()] })));
  }
  for (const [key, set] of conflicts) replaceSet(managers, key, (before) => before.difference(set));
  for (const [key, set] of removed) replaceSet(managers, key, (before) => before.difference(set));
  for (const [key, { set }] of managers) if (set.empty) managers.delete(key);
  return own;
}

function replaceSet(managers: Managers, key: string, change: (set: FieldSet) => FieldSet): void {
  const managed = managers.get(key)!;
  managers.set(key, { ...managed, set: change(managed.set) });
}

interface Update {
  readonly live: Typed;
  readonly next: Typed;
  readonly versions: Versions;
  readonly manager: string;
}

/** Assigns the fields that an update changed to `manager`. It changes `managers`. */
export function ownUpdate(managers: Managers, { live, next, versions, manager }: Update): void {
  reconcile(managers, live, versions);
  const { removed, modified, added } = takeOver(managers, { live, next, versions, manager, force: true });
  const before = managers.get(manager);
  let set = (before?.set ?? new FieldSet()).difference(removed).union(modified).union(added);
  const ignored = versions.ignored(versions.apiVersion);
  if (ignored) set = set.recursiveDifference(ignored);
  if (set.empty) managers.delete(manager);
  else managers.set(manager, { set, apiVersion: versions.apiVersion, applied: false, time: before?.time });
}

interface Apply {
  readonly live: Typed;
  readonly config: Typed;
  readonly versions: Versions;
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Merges the applied value and changes `managers`. @returns the new value; `undefined` when nothing changed. @throws
 * Conflicts
 */
export function ownApply(managers: Managers, { live, config, versions, manager, force }: Apply): unknown {
  reconcile(managers, live, versions);
  const merged = { value: mergeTyped(live.value, config.value, live.atom) ?? null, atom: live.atom };
  const last = managers.get(manager);
  let set = fieldSetOf(config.value, config.atom);
  const ignored = versions.ignored(versions.apiVersion);
  if (ignored) set = set.recursiveDifference(ignored);
  managers.set(manager, { set, apiVersion: versions.apiVersion, applied: true, time: last?.time });
  const next = prune(merged, { managers, last, versions });
  takeOver(managers, { live, next, versions, manager, force });
  return equalValues(live.value, next.value) ? undefined : next.value;
}

interface Prune {
  readonly managers: Managers;
  /** The fields that the manager applied before. */
  readonly last: Managed | undefined;
  readonly versions: Versions;
}

/** Removes fields that the manager applied before, does not apply any more, and that belong to no other manager. */
function prune(merged: Typed, { managers, last, versions }: Prune): Typed {
  if (!last || last.set.empty) return merged;
  const converted = versions.convert(merged, last.apiVersion);
  if (!converted) return merged;
  const { atom } = converted;
  const lastSet = last.set.withNamedFields(atom);
  let pruned: Typed = { value: removeItems(converted.value, lastSet, atom), atom };
  pruned = addBackOwned({ merged: converted, pruned, managers, first: last.apiVersion, versions });
  pruned = versions.convert(pruned, last.apiVersion) ?? pruned;
  const left = fieldSetOf(pruned.value, atom).withNamedFields(atom);
  const whole = fieldSetOf(converted.value, atom).withNamedFields(atom);
  // A manager cannot remove what it never applied.
  const gone = whole.difference(left).intersection(lastSet);
  const result = { value: removeItems(converted.value, gone, atom), atom };
  return versions.convert(result, versions.apiVersion) ?? result;
}

interface AddBack {
  readonly merged: Typed;
  readonly pruned: Typed;
  readonly managers: Managers;
  readonly first: string;
  readonly versions: Versions;
}

function addBackOwned({ merged, pruned, managers, first, versions }: AddBack): Typed {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion, set } of managers.values()) {
    owned.set(apiVersion, owned.get(apiVersion)?.union(set) ?? set);
  }
  const order = [...owned.keys()].toSorted((a, b) => Number(b === first) - Number(a === first));
  let [whole, left] = [merged, pruned];
  for (const apiVersion of order) {
    const [all, some] = [versions.convert(whole, apiVersion), versions.convert(left, apiVersion)];
    if (!all || !some) continue;
    whole = all;
    const { atom } = all;
    const keep = fieldSetOf(some.value, atom).withNamedFields(atom).union(owned.get(apiVersion)!.withNamedFields(atom));
    const gone = fieldSetOf(all.value, atom).withNamedFields(atom).difference(keep);
    left = { value: removeItems(all.value, gone, atom), atom };
  }
  return left;
}

/** Adapts ownership to schema changes between atomic and granular fields. */
function reconcile(managers: Managers, live: Typed, versions: Versions): void {
  for (const [key, managed] of managers) {
    const typed = managed.apiVersion === versions.apiVersion ? live : versions.convert(live, managed.apiVersion);
    if (!typed) {
      managers.delete(key);
      continue;
    }
    const set = reconcileWithSchema(managed.set, typed.atom);
    if (set !== managed.set) managers.set(key, { ...managed, set });
  }
}
