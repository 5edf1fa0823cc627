/** Maintains CustomResourceDefinitions after they are stored: accepts names, serves kinds, and cleans up. */
import { timestamp } from "../timestamp.ts";
import { deepEquals } from "#platform/equality";
import type { Fields, KubeObject } from "../hooks.ts";
import { type DefinitionNames, specOf } from "./custom-rows.ts";
import { definitionsName, isEstablished } from "./kind-registry.ts";
import { type OwnWriter, writeStatus } from "./own-writes.ts";

interface Condition extends Fields {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The finalizer that a definition gets when its deletion is requested. */
export const cleanup = "customresourcecleanup.apiextensions.k8s.io";

/** Follows the definitions; every step writes the definition's own status. @returns a function that ends it. */
export function followDefinitions(writer: OwnWriter): () => void {
  const { storage, registry } = writer;
  const definitions = storage.collection(definitionsName);
  const step = (name: string): void => {
    const definition = definitions.get(name)?.object;
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp !== undefined) remove(definition, writer);
    else accept(definition, writer);
  };
  for (const { key } of definitions.all()) step(key);
  return definitions.listen(({ type, stored }) => {
    if (type === "DELETED") registry.undefine(stored.key);
    else registry.define(stored.object);
    // The step runs after the response to the writer, which shows the object as the client wrote it.
    if (type !== "DELETED") setImmediate(() => step(stored.key));
  });
}

function accept(definition: KubeObject, writer: OwnWriter): void {
  const conditions = currentConditions(definition);
  const { names: acceptedNames, conflict } = decidedNames(definition, writer);
  const conditionOf = (type: string): Condition | undefined => conditions.find((condition) => condition.type === type);
  const set = (type: string, status: string, [reason, message]: readonly [string, string]): void => {
    const old = conditionOf(type);
    if (old?.status === status && old.reason === reason && old.message === message) return;
    const lastTransitionTime = old?.status === status ? old["lastTransitionTime"] : timestamp(writer.now());
    const condition: Condition = { type, status, lastTransitionTime, reason, message };
    const index = conditions.findIndex((one) => one.type === type);
    if (index < 0) conditions.push(condition);
    else conditions[index] = condition;
  };
  if (conflict === undefined) {
    set("NamesAccepted", "True", ["NoConflicts", "no conflicts found"]);
    set("Established", "True", ["InitialNamesAccepted", "the initial names have been accepted"]);
  } else {
    set("NamesAccepted", "False", conflict);
    if (!isEstablished(definition)) set("Established", "False", ["NotAccepted", "not all names are accepted"]);
  }
  const status = { ...(definition["status"] as Fields), conditions, acceptedNames };
  if (deepEquals(status, definition["status"])) return;
  const resource = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" };
  writeStatus(writer, resource, { object: definition, status });
}

interface NameDecision {
  /** The accepted names; where the wanted one is in use, the definition keeps its former name. */
  readonly names: DefinitionNames;
  /** The last name that another definition of the group already uses. */
  readonly conflict: [reason: string, message: string] | undefined;
}

function decidedNames(definition: KubeObject, { storage }: OwnWriter): NameDecision {
  const { group, names: wanted } = specOf(definition);
  const [kinds, resources] = [new Set<string>(), new Set<string>()];
  for (const { object } of storage.collection(definitionsName).all()) {
    if (specOf(object).group !== group) continue;
    const { plural, singular, shortNames, kind, listKind } = acceptedNamesOf(object);
    for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  }
  const accepted = acceptedNamesOf(definition);
  let names = accepted;
  let conflict: NameDecision["conflict"];
  const isFree = (name: string | undefined, own: string | undefined, taken: ReadonlySet<string>): boolean =>
    (name ?? "") === (own ?? "") || !taken.has(name ?? "");
  const inUse = (list: readonly (string | undefined)[]): string => {
    const texts = [...new Set(list.map((name) => `${JSON.stringify(name ?? "")} is already in use`))];
    return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
  };
  for (const [field, taken, reason] of [
    ["plural", resources, "PluralConflict"],
    ["singular", resources, "SingularConflict"],
    ["shortNames", resources, "ShortNamesConflict"],
    ["kind", kinds, "KindConflict"],
    ["listKind", kinds, "ListKindConflict"],
  ] as const) {
    if (field === "shortNames") {
      const own = new Set(accepted.shortNames);
      const lost = (wanted.shortNames ?? []).filter((name) => !own.has(name) && taken.has(name));
      if (lost.length > 0) conflict = [reason, inUse(lost)];
      else names = withName(names, field, wanted.shortNames);
    } else if (isFree(wanted[field], accepted[field], taken)) names = withName(names, field, wanted[field]);
    else conflict = [reason, inUse([wanted[field]])];
  }
  return { names: withName(names, "categories", wanted.categories), conflict };
}

function acceptedNamesOf(definition: KubeObject): DefinitionNames {
  const { acceptedNames } = (definition["status"] ?? {}) as { acceptedNames?: DefinitionNames };
  return acceptedNames ?? { plural: "", kind: "" };
}

/** Sets a name; the order of fields is that of the API. */
function withName(names: DefinitionNames, field: keyof DefinitionNames, value: unknown): DefinitionNames {
  const all = { ...names, [field]: value } as DefinitionNames;
  const order = ["plural", "singular", "shortNames", "kind", "listKind", "categories"] as const;
  const fields = order.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]] as const]));
  return Object.fromEntries(fields) as unknown as DefinitionNames;
}

/** Deletes the objects of a kind before its definition. */
function remove(definition: KubeObject, writer: OwnWriter): void {
  const { storage, registry } = writer;
  const name = definition.metadata.name ?? "";
  if (!definition.metadata.finalizers?.includes(cleanup)) return;
  const { group, names } = specOf(definition);
  const collection = storage.collection(`${group}/${names.plural}`);
  for (const { key, object } of collection.all()) {
    const { metadata } = object;
    if ((metadata.finalizers ?? []).length === 0) storage.remove(collection, key);
    else if (metadata.deletionTimestamp === undefined) {
      const deletion = { deletionTimestamp: timestamp(writer.now()), deletionGracePeriodSeconds: 0 };
      const generation = metadata.generation === undefined ? {} : { generation: metadata.generation + 1 };
      storage.put(collection, key, { ...object, metadata: { ...metadata, ...generation, ...deletion } });
    }
  }
  if (collection.size > 0) {
    const stop = collection.listen(() => {
      if (collection.size > 0) return;
      stop();
      setImmediate(() => remove(storage.collection(definitionsName).get(name)?.object ?? definition, writer));
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

function currentConditions(definition: KubeObject): Condition[] {
  const { conditions } = definition["status"] as { conditions?: readonly Condition[] | null };
  return [...(conditions ?? [])];
}
