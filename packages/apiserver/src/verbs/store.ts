/** The last step of a write: stores the object, unless another write came first. */
import { deepEquals } from "#platform/equality";
import type { KubeObject, ObjectMetadata } from "../hooks.ts";
import { settled } from "../numbers.ts";
import { keyOf, type Resource, viewOf } from "../registry/resource.ts";
import { alreadyExists, conflict, noUniqueName, StatusError } from "../status.ts";
import { ordered, Stored } from "../storage/stored.ts";
import { generatedName, modified } from "./write-checks.ts";
import type { Write } from "./write-state.ts";

/** New claims, whose first update is written even without a change: the default of their phase is not stored yet. */
const writtenAnew: WeakSet<Stored> = new WeakSet();

/** Stores the object and sets the result. @throws StatusError 409 where another write came first */
export function store(write: Write): Promise<void> {
  const { call, request, stored, live } = write;
  // `selfLink` is never stored, but a dry run shows it.
  if (!request.options.dryRun) delete write.object.metadata["selfLink"];
  if (call.hasFloats === true) write.object = settled(write.object);
  return stored === undefined || live === undefined ? storeNew(write) : storeChanged(write, { stored, live });
}

async function storeNew(write: Write): Promise<void> {
  const { call, request, object } = write;
  const { resource, target } = call;
  const { storage } = call.kernel;
  const { dryRun } = request.options;
  const { metadata } = object;
  // Versions that are no positive number are ignored.
  if (/^0*[1-9][0-9]*$/.test(metadata.resourceVersion ?? "") && !dryRun && request.isUpdate !== true)
    throw new StatusError(500, "", { message: "resourceVersion should not be set on objects to be created" });
  let key = keyOf(resource, target.namespace, metadata.name ?? "");
  const mostTries = write.isNameGenerated ? 8 : 0;
  for (let tries = 0; tries < mostTries && resource.collection.get(key) !== undefined; tries += 1) {
    metadata.name = generatedName(metadata.generateName ?? "");
    key = keyOf(resource, target.namespace, metadata.name);
  }
  checkFree(resource, key, metadata);
  const inStorage = await resource.toStorage(object);
  if (dryRun) {
    const trial = new Stored(key, 0, { object: ordered(object) });
    write.result = resource.readsLess ? await viewOf(resource, trial, "") : trial;
    return;
  }
  checkFree(resource, key, metadata);
  // Storage assigns the version; this reserves its place among the fields.
  const placed = { ...inStorage, metadata: { ...inStorage.metadata, resourceVersion: "" } };
  const stored = storage.put(resource.collection, key, ordered(placed));
  if (resource.row.kind === "PersistentVolumeClaim") writtenAnew.add(stored);
  await storage.committed();
  const [view = stored] = await resource.view([stored]);
  write.result = view;
}

/** Checks that the key is free. @throws StatusError 409 */
function checkFree({ collection, row }: Resource, key: string, { name = "", generateName }: ObjectMetadata): void {
  const existing = collection.get(key);
  if (existing !== undefined) throw (generateName ? noUniqueName : alreadyExists)(row, name, existing.object);
}

interface Before {
  readonly stored: Stored;
  /** The object in the version of the request. */
  readonly live: KubeObject;
}

async function storeChanged(write: Write, { stored, live }: Before): Promise<void> {
  const { call, request, object } = write;
  const { resource, target } = call;
  const { collection, row } = resource;
  const { storage } = call.kernel;
  const isSame = isSameBut(object, live) && !writtenAnew.has(stored);
  // An object that is stored in another version, or under an earlier definition, is stored again when its stored form
  // changes.
  const isStored = isSame && (live === stored.object || !row.custom);
  const inStorage = isStored ? stored.object : resource.toStorage(isSame ? live : object);
  const written = inStorage instanceof Promise ? await inStorage : inStorage;
  const isUnchanged = isSame && deepEquals(written, stored.object);
  if (collection.get(stored.key) !== stored) {
    if (request.isRepeatable === true || collection.get(stored.key) === undefined) return;
    throw conflict(row, target.name, { why: modified });
  }
  if (request.options.dryRun) {
    const trial = new Stored(stored.key, stored.version, { object: ordered(isUnchanged ? live : object) });
    write.result = resource.readsLess ? await viewOf(resource, trial, target.subresource) : trial;
    return;
  }
  if (isEmptied(object, live, row.kind)) {
    storage.remove(collection, stored.key);
    await storage.committed();
    write.result = new Stored(stored.key, stored.version, { object: ordered(object) });
    return;
  }
  const result = isUnchanged ? stored : storage.put(collection, stored.key, ordered(written));
  const commit = storage.committed();
  if (commit !== undefined) await commit;
  write.result = await viewOf(resource, result, target.subresource);
}

/** Whether the objects are equal except for the times of managers that changed nothing. */
function isSameBut(next: KubeObject, live: KubeObject): boolean {
  const { managedFields: mine = [], ...metadata } = next.metadata;
  const { managedFields: theirs = [], ...liveMetadata } = live.metadata;
  if (!deepEquals({ ...next, metadata }, { ...live, metadata: liveMetadata })) return false;
  if (mine.length !== theirs.length) return false;
  const timeless = (entries: readonly Record<string, unknown>[]): unknown =>
    entries.map((entry) => ({ ...entry, time: undefined }));
  return deepEquals(timeless(mine), timeless(theirs));
}

/** Whether the last finalizer of an object that is being deleted is gone. */
function isEmptied(next: KubeObject, live: KubeObject, kind: string): boolean {
  if ((next.metadata.finalizers ?? []).length > 0 || live.metadata.deletionTimestamp === undefined) return false;
  if ((live.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if (kind !== "Namespace") return true;
  const { finalizers = [] } = (next["spec"] ?? {}) as { finalizers?: string[] };
  return finalizers.length === 0;
}
