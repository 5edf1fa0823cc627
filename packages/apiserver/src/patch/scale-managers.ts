/**
 * Translates the owners of the number of replicas between an object and its scale. Two managers of the same name may
 * remain, as on the real server, which distinguishes them by versions that exist on only one side.
 */
import type { Fields } from "../hooks.ts";
import { FieldSet } from "./field-set.ts";
import { decodeManagers, encodeManagers, type Managers } from "./managers.ts";
import { fieldElement } from "./path-element.ts";

/**
 * The path of the replica count in each version of a kind; `null` when the version has none, `undefined` when it is not
 * served.
 */
export type ReplicasPaths = (apiVersion: string) => readonly string[] | null | undefined;

type Entries = readonly Fields[] | undefined;

const inScale = FieldSet.of([["spec", "replicas"].map(fieldElement)]);
const scaleVersion = "autoscaling/v1";

/** Returns the entries of the scale of an object with these entries. */
export function scaleEntries(entries: Entries, paths: ReplicasPaths): Fields[] | undefined {
  const scale: Managers = new Map();
  for (const [key, managed] of decodeManagers(entries) ?? []) {
    const path = paths(managed.apiVersion);
    if (path && hasPath(managed.set, path)) scale.set(key, { ...managed, set: inScale, apiVersion: scaleVersion });
  }
  return encodeManagers(scale);
}

/** Returns the managers of an object whose scale now has these managers. */
export function scaledEntries(
  entries: Entries,
  scale: Entries,
  { paths, apiVersion }: { readonly paths: ReplicasPaths; readonly apiVersion: string },
): Fields[] | undefined {
  const before: Managers = decodeManagers(entries) ?? new Map();
  const scaling: Managers = new Map(decodeManagers(scale) ?? []);
  const after: Managers = new Map();
  for (const [key, managed] of before) {
    const path = paths(managed.apiVersion);
    if (path === undefined) continue;
    if (path === null || !hasPath(managed.set, path) || scaling.delete(key)) {
      after.set(key, managed);
      continue;
    }
    const set = managed.set.difference(FieldSet.of([path.map(fieldElement)]));
    if (!set.empty) after.set(key, { ...managed, set });
  }
  const own = paths(apiVersion);
  for (const [key, managed] of scaling) {
    if (!own || !hasPath(managed.set, ["spec", "replicas"])) continue;
    const set = FieldSet.of([own.map(fieldElement)]);
    after.set(key, { ...managed, set, apiVersion, time: before.get(key)?.time });
  }
  return encodeManagers(after);
}

function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let within: FieldSet | undefined = set;
  for (const step of path.slice(0, -1)) within = within?.within(fieldElement(step));
  return within?.has(fieldElement(path.at(-1) ?? "")) ?? false;
}
