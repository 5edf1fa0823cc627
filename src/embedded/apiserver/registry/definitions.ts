/** What becomes of a CustomResourceDefinition after it is stored: names accepted, served, and cleaned up after. */
import { sameJson } from "../../../resource/json.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import type { Machinery } from "../machinery.ts";
import type { Storage } from "../storage/storage.ts";
import { type DefinitionNames, specOf } from "./custom-rows.ts";
import { definitionsName, isEstablished, type KindRegistry } from "./kind-registry.ts";

interface Around {
  readonly storage: Storage;
  readonly registry: KindRegistry;
  readonly machinery: Machinery;
  /** RFC 3339 in whole seconds. */
  readonly now: () => string;
}

interface Condition extends Fields {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Put on a definition when its deletion is asked for. */
export const cleanup = "customresourcecleanup.apiextensions.k8s.io";

/** Follows the definitions; every step is a write of the definition's own status. @returns what ends it. */
export function followDefinitions(around: Around): () => void {
  const { storage, registry } = around;
  const definitions = storage.collection(definitionsName);
  const step = (name: string): void => {
    const definition = definitions.get(name)?.object;
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp !== undefined) remove(definition, around);
    else accept(definition, around);
  };
  for (const { key } of definitions.all()) step(key);
  return definitions.listen(({ type, stored }) => {
    if (type === "DELETED") registry.undefine(stored.key);
    else registry.define(stored.object);
    // After the answer to whoever wrote it: the writer sees its own version of the object.
    if (type !== "DELETED") setImmediate(() => step(stored.key));
  });
}

function accept(definition: KubeObject, around: Around): void {
  const { names } = specOf(definition);
  const conditions = currentConditions(definition);
  const taken = takenName(definition, around);
  const next: KubeObject = {
    ...definition,
    metadata: { ...definition.metadata },
  };
  const found = (type: string): Condition | undefined => conditions.find((condition) => condition.type === type);
  const set = (type: string, status: string, [reason, message]: readonly [string, string]): void => {
    const old = found(type);
    if (old?.status === status && old.reason === reason && old.message === message) return;
    const lastTransitionTime = old?.status === status ? old["lastTransitionTime"] : around.now();
    const condition: Condition = { type, status, lastTransitionTime, reason, message };
    const index = conditions.findIndex((one) => one.type === type);
    if (index < 0) conditions.push(condition);
    else conditions[index] = condition;
  };
  if (taken === undefined) {
    set("NamesAccepted", "True", ["NoConflicts", "no conflicts found"]);
    set("Established", "True", ["InitialNamesAccepted", "the initial names have been accepted"]);
  } else {
    set("NamesAccepted", "False", taken);
    if (!isEstablished(definition)) set("Established", "False", ["NotAccepted", "not all names are accepted"]);
  }
  const status = definition["status"] as { acceptedNames?: DefinitionNames; storedVersions?: string[] };
  const acceptedNames = taken === undefined ? names : (status.acceptedNames ?? { plural: "", kind: "" });
  next["status"] = { ...status, conditions, acceptedNames };
  if (sameJson(next, definition)) return;
  write(definition, next, around);
}

/** Which of the names another definition of the group has already. */
function takenName(definition: KubeObject, { storage }: Around): [string, string] | undefined {
  const { group, names } = specOf(definition);
  const kinds = new Set<string>();
  const resources = new Set<string>();
  for (const { key, object } of storage.collection(definitionsName).all()) {
    if (key === definition.metadata.name || specOf(object).group !== group) continue;
    const other = (object["status"] as { acceptedNames?: DefinitionNames } | undefined)?.acceptedNames;
    if (!other?.plural) continue;
    for (const name of [other.plural, other.singular, ...(other.shortNames ?? [])]) if (name) resources.add(name);
    for (const kind of [other.kind, other.listKind]) if (kind) kinds.add(kind);
  }
  if (resources.has(names.plural)) return ["PluralConflict", `"${names.plural}" is already in use`];
  if (names.singular && resources.has(names.singular))
    return ["SingularConflict", `"${names.singular}" is already in use`];
  for (const name of names.shortNames ?? [])
    if (resources.has(name)) return ["ShortNamesConflict", `"${name}" is already in use`];
  if (kinds.has(names.kind)) return ["KindConflict", `"${names.kind}" is already in use`];
  if (names.listKind && kinds.has(names.listKind)) return ["ListKindConflict", `"${names.listKind}" is already in use`];
  return undefined;
}

/** Objects of a kind go before its definition does. */
function remove(definition: KubeObject, around: Around): void {
  const { storage, registry } = around;
  const name = definition.metadata.name ?? "";
  if (!definition.metadata.finalizers?.includes(cleanup)) return;
  const { group, names } = specOf(definition);
  const collection = storage.collection(`${group}/${names.plural}`);
  for (const { key, object } of collection.all()) {
    const { metadata } = object;
    if ((metadata.finalizers ?? []).length === 0) storage.remove(collection, key);
    else if (metadata.deletionTimestamp === undefined) {
      const deletion = { deletionTimestamp: around.now(), deletionGracePeriodSeconds: 0 };
      const generation = metadata.generation === undefined ? {} : { generation: metadata.generation + 1 };
      storage.put(collection, key, { ...object, metadata: { ...metadata, ...generation, ...deletion } });
    }
  }
  if (collection.size > 0) {
    const stop = collection.listen(() => {
      if (collection.size > 0) return;
      stop();
      setImmediate(() => remove(storage.collection(definitionsName).get(name)?.object ?? definition, around));
    });
    return;
  }
  const finalizers = definition.metadata.finalizers.filter((one) => one !== cleanup);
  const definitions = storage.collection(definitionsName);
  if (definitions.get(name) === undefined) return;
  const next = { ...definition, metadata: { ...definition.metadata, finalizers } };
  registry.undefine(name);
  if (finalizers.length === 0) storage.remove(definitions, name);
  else storage.put(definitions, name, next);
}

function write(definition: KubeObject, next: KubeObject, { storage, registry, machinery, now }: Around): void {
  const row = registry.get("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const tracked =
    row?.schema === undefined
      ? next
      : machinery.patches.updateManagedFields({
          schema: row.schema,
          live: definition,
          next,
          manager: "kube-apiserver",
          operation: "Update",
          subresource: "status",
          apiVersion: "apiextensions.k8s.io/v1",
          now: now(),
          resetFields: [],
        });
  const key = definition.metadata.name ?? "";
  storage.put(storage.collection(definitionsName), key, { ...tracked, metadata: { ...tracked.metadata } });
}

function currentConditions(definition: KubeObject): Condition[] {
  const { conditions } = definition["status"] as { conditions?: readonly Condition[] | null };
  return [...(conditions ?? [])];
}
