/** Where the newest changes of objects come from: which manager, and which run of this process. */
import type { AnyObject } from "../resource/handle.ts";
import { type Fields, isFields, sameJson } from "../resource/json.ts";
import type { FieldsV1, ManagedFieldsEntry } from "../resource/meta.ts";
import { ownField } from "../resource/any-key.ts";
import { MOST_CHANGES } from "./changes.ts";
import type { ChangedBy, RunRef } from "./run-answer.ts";

/** Where the change that an event shows comes from. */
export interface EventOrigin {
  /** The time at which this process heard of it; milliseconds since the epoch. */
  readonly at: number;
  readonly by?: ChangedBy | undefined;
  /** The run of this process that made it. */
  readonly run?: RunRef | undefined;
  /** The paths that its author owns, for an object of which only metadata is known. */
  readonly paths?: readonly string[] | undefined;
}

/** How many of the newest changes are remembered: an event is delivered after at most one request. */
const MOST_ORIGINS = 1_024;

export class EventOrigins {
  readonly #byVersion = new Map<string, EventOrigin>();

  /** Returns the origin of a state, or of the deletion of the object; `undefined` when it is not remembered. */
  of({ kind, metadata }: AnyObject, isDeleted = false): EventOrigin | undefined {
    return this.#byVersion.get(`${kind}/${isDeleted ? metadata.uid : metadata.resourceVersion}`);
  }

  /** Remembers who has deleted an object. */
  setDeleted(kind: string, uid: string, origin: EventOrigin): void {
    this.#set(`${kind}/${uid}`, origin);
  }

  /** Remembers the origin of a state. What is known about a write of this process stays when its event arrives. */
  set({ kind, metadata }: AnyObject, origin: EventOrigin): void {
    const version = `${kind}/${metadata.resourceVersion}`;
    if (origin.run === undefined && this.#byVersion.get(version)?.run !== undefined) return;
    this.#set(version, origin);
  }

  #set(version: string, origin: EventOrigin): void {
    this.#byVersion.set(version, origin);
    if (this.#byVersion.size > MOST_ORIGINS) this.#byVersion.delete(this.#byVersion.keys().next().value!);
  }
}

/**
 * The author of the newest change, by the managed fields of the new state; `undefined` when they do not say it.
 *
 * @param old the state before, without its managed fields.
 */
export function authorOf(object: AnyObject, old: AnyObject | undefined): ManagedFieldsEntry | undefined {
  const entries = object.metadata.managedFields;
  if (entries === undefined || isOnlyDeletion(object, old)) return undefined;
  let newest: ManagedFieldsEntry | undefined;
  let equals: ManagedFieldsEntry[] | undefined;
  for (const entry of entries) {
    const { time = "" } = entry;
    const latest = newest?.time ?? "";
    if (newest === undefined || time > latest) {
      newest = entry;
      equals = undefined;
    } else if (time === latest) (equals ??= [newest]).push(entry);
  }
  // The times have seconds. Of several writers within one, it is the one that owns a changed field.
  if (equals === undefined || old === undefined) return newest;
  return equals.find(({ fieldsV1 = {} }) => ownsDifference(fieldsV1, old, object)) ?? newest;
}

/** A deletion sets a time and nothing else, and has no author among the managed fields. */
function isOnlyDeletion({ metadata }: AnyObject, old: AnyObject | undefined): boolean {
  return old !== undefined && metadata.deletionTimestamp !== undefined && old.metadata.deletionTimestamp === undefined;
}

/** Whether one of the fields differs. */
function ownsDifference(fields: FieldsV1, old: unknown, now: unknown): boolean {
  let isLeaf = true;
  for (const name in fields) {
    if (name === ".") continue;
    isLeaf = false;
    const isField = name.startsWith("f:");
    if (!isField && !name.startsWith("k:")) continue;
    const part = (value: unknown): unknown =>
      isField ? fieldOf(value, name.slice(2)) : itemOf(value, JSON.parse(name.slice(2)) as Fields);
    if (ownsDifference(fields[name]!, part(old), part(now))) return true;
  }
  if (!isLeaf) return false;
  // Whoever owns a map without its fields owns only that the map exists.
  return isFields(old) && isFields(now) ? false : !sameJson(old, now);
}

function fieldOf(value: unknown, name: string): unknown {
  return isFields(value) ? ownField(value, name) : undefined;
}

function itemOf(value: unknown, keys: Fields): unknown {
  if (!Array.isArray(value)) return undefined;
  return value.find((item: unknown) => isFields(item) && Object.keys(keys).every((name) => item[name] === keys[name]));
}

/** The paths of the fields outside metadata, which their owner may have changed. */
export function pathsOf(fields: FieldsV1): readonly string[] {
  const paths: string[] = [];
  const collect = (inner: FieldsV1, path: string): void => {
    let isLeaf = true;
    for (const name in inner) {
      if (name === "." || paths.length === MOST_CHANGES) continue;
      if (name.startsWith("v:")) continue;
      isLeaf = false;
      if (path === "" && name === "f:metadata") continue;
      const text = name.slice(2);
      if (name.startsWith("f:")) collect(inner[name]!, path === "" ? text : `${path}.${text}`);
      else collect(inner[name]!, `${path}[${keysText(JSON.parse(text) as Fields)}]`);
    }
    if (isLeaf && path !== "" && paths.length < MOST_CHANGES) paths.push(path);
  };
  collect(fields, "");
  return paths;
}

function keysText(keys: Fields): string {
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
