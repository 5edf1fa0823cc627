/** What of objects can be compared: without chance names, times, versions and addresses. */
import type { Names } from "./names.ts";
import type { Loose } from "./recorder.ts";

/**
 * The generation counts writes of a spec: in a rollout, timing decides how many there are. Of a pod it tells nothing,
 * and what a pod's account mounts is the matter of the API server.
 */
const dropped: ReadonlySet<string> = new Set([
  "managedFields",
  "resourceVersion",
  "uid",
  "generation",
  "creationTimestamp",
  "generateName",
  "serviceAccount",
  "serviceAccountName",
  "volumeMounts",
]);

/** Lists whose order is that of addresses, which chance gives out, or of hashes. */
const unordered: ReadonlySet<string> = new Set([
  "conditions",
  "ownerReferences",
  "endpoints",
  "subsets",
  "addresses",
  "notReadyAddresses",
  "ports",
]);

/** Objects that a cluster keeps by itself in every namespace. */
export function isOfEveryNamespace({ kind, metadata }: Loose): boolean {
  return (
    (kind === "ConfigMap" && metadata.name === "kube-root-ca.crt") ||
    (kind === "ServiceAccount" && metadata.name === "default")
  );
}

export function normalizeObject(object: Loose, names: Names): unknown {
  const { metadata, status } = object;
  const copy = { ...object, apiVersion: undefined, kind: undefined };
  if (object.kind !== "Pod") copy.metadata = { ...metadata, name: undefined };
  if (status?.observedGeneration !== undefined) {
    const isCurrent = status.observedGeneration >= (metadata.generation ?? 0);
    copy.status = { ...status, observedGeneration: isCurrent ? "current" : "behind" };
  }
  if (object.kind === "Pod") copy.spec = withoutAccount(object.spec);
  if (object.kind === "ControllerRevision") copy.data = undefined; // the spec as it was
  return normalizeValue(copy, "", names);
}

function withoutAccount(spec: Loose): Loose {
  const volumes = spec.volumes?.filter(({ name }: Loose) => !name.startsWith("kube-api-access-"));
  return { ...spec, volumes: volumes?.length > 0 ? volumes : undefined };
}

function normalizeValue(value: unknown, field: string, names: Names): unknown {
  if (typeof value === "string") return names.text(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => normalizeValue(item, field, names));
    return unordered.has(field) ? items.sort(byText) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    if (dropped.has(name) || item === undefined) continue;
    if (field === "conditions" && name === "observedGeneration") continue;
    entries.push([names.text(name), normalizeValue(item, name, names)]);
  }
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
