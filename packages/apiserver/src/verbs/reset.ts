/** Restores the fields that a path does not write: an object's own path keeps its status, a subresource keeps everything else. */
import type { Fields, KubeObject, ObjectMetadata } from "../hooks.ts";
import { resetFields as resetFieldsOf } from "../patch/reset-fields.ts";
import type { Resource } from "../registry/resource.ts";

/** Resets an object before its creation. */
export function resetNew(resource: Resource, object: KubeObject): KubeObject {
  if (!resource.hasStatus || resource.traits.keepsNewStatus || !("status" in object)) return object;
  const { status: _, ...rest } = object;
  return rest;
}

/** Fields that a path does not write get no owner by being sent through it. */
export function resetFields(call: {
  readonly resource: Resource;
  readonly target: { readonly subresource: string };
}): readonly (readonly string[])[] {
  return resetFieldsOf(call.resource.row, call.target.subresource);
}

/** The part of an object that a path writes. */
interface Part {
  /** Returns the object with everything else as it is in `live`. */
  readonly reset: (resource: Resource, next: KubeObject, live: KubeObject) => KubeObject;
  /** Whether the sender becomes the owner of all fields that it sent, also of those that the path does not write. */
  readonly isTrackedWhole?: boolean;
}

/** The parts by subresource; `""` is the object itself. */
const parts: Readonly<Record<string, Part>> = {
  "": { reset: ({ hasStatus }, next, live) => (hasStatus ? withStatus(next, live["status"]) : next) },
  status: { reset: statusOnly },
  approval: { reset: (_, next, live) => withStatus({ ...live, metadata: next.metadata }, approved(next, live)) },
  ephemeralcontainers: { reset: (_, next, live) => withEphemeralContainers(next, live), isTrackedWhole: true },
  finalize: { reset: (_, next, live) => withSpecFinalizers(next, live) },
  resize: { reset: (_, next, live) => resized(next, live), isTrackedWhole: true },
};

/** Resets an object after a write: the parts that the path does not write come from `live`. */
export function resetChanged(
  { resource, subresource }: { readonly resource: Resource; readonly subresource: string },
  next: KubeObject,
  live: KubeObject,
): KubeObject {
  const part = parts[subresource];
  return part === undefined
    ? withStatus({ ...next, metadata: metadataOf(next, live) }, live["status"])
    : part.reset(resource, next, live);
}

export function isTrackedWhole(subresource: string): boolean {
  return parts[subresource]?.isTrackedWhole === true;
}

/** Kinds whose status is written without labels and annotations; most kinds write them along with it. */
const keepsMetadataOnStatus = new Set([
  "apiregistration.k8s.io/apiservices",
  "networking.k8s.io/servicecidrs",
  "storage.k8s.io/volumeattachments",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "resource.k8s.io/resourceclaims",
  "flowcontrol.apiserver.k8s.io/flowschemas",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
]);
const keepsLabelsOnStatus = new Set(["apps/deployments"]);

function statusOnly({ row }: Resource, next: KubeObject, live: KubeObject): KubeObject {
  const keepsMetadata = row.custom || keepsMetadataOnStatus.has(`${row.group}/${row.plural}`);
  const metadata = keepsMetadata ? metadataOf(next, live) : next.metadata;
  if (keepsLabelsOnStatus.has(`${row.group}/${row.plural}`)) {
    const { labels: _, ...rest } = metadata;
    const labels = live.metadata.labels;
    return withStatus({ ...live, metadata: { ...rest, ...(labels && { labels }) } }, next["status"]);
  }
  return withStatus({ ...live, metadata }, next["status"]);
}

/** Keeps only the version, for conflict detection, and the managed fields. */
function metadataOf(next: KubeObject, live: KubeObject): ObjectMetadata {
  const { resourceVersion, managedFields } = next.metadata;
  return {
    ...live.metadata,
    ...(resourceVersion === undefined ? { resourceVersion: "" } : { resourceVersion }),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  const { status: _, ...rest } = object;
  return status === undefined ? rest : { ...rest, status };
}

function approved(next: KubeObject, live: KubeObject): Fields {
  return { ...fieldsOf(live, "status"), conditions: fieldsOf(next, "status")["conditions"] };
}

function withEphemeralContainers(next: KubeObject, live: KubeObject): KubeObject {
  const { ephemeralContainers } = fieldsOf(next, "spec");
  return { ...live, metadata: metadataOf(next, live), spec: { ...fieldsOf(live, "spec"), ephemeralContainers } };
}

function withSpecFinalizers(next: KubeObject, live: KubeObject): KubeObject {
  const { finalizers } = fieldsOf(next, "spec");
  const { finalizers: _, ...rest } = fieldsOf(live, "spec");
  const spec = Array.isArray(finalizers) && finalizers.length > 0 ? { ...rest, finalizers } : rest;
  return { ...live, metadata: next.metadata, spec };
}

function fieldsOf(object: KubeObject, name: string): Fields {
  return (object[name] ?? {}) as Fields;
}

/** Changes only resources, provided that the containers are the same. */
function resized(next: KubeObject, live: KubeObject): KubeObject {
  const [wanted, spec] = [fieldsOf(next, "spec"), fieldsOf(live, "spec")];
  const lists = ["containers", "initContainers"];
  if (lists.some((name) => listOf(wanted, name).length !== listOf(spec, name).length)) return next;
  const merged = lists.map((name) => [name, withResources(listOf(wanted, name), listOf(spec, name))] as const);
  const own = Object.fromEntries(merged.filter(([, list]) => list.length > 0));
  const { resources: _, ...rest } = spec;
  const whole = wanted["resources"] === undefined ? {} : { resources: wanted["resources"] };
  return withStatus({ ...live, metadata: metadataOf(next, live), spec: { ...rest, ...own, ...whole } }, live["status"]);
}

function withResources(desired: readonly Fields[], live: readonly Fields[]): readonly Fields[] {
  if (desired.some(({ name }, index) => name !== live[index]?.["name"])) return desired;
  return desired.map(({ resources, resizePolicy }, index) => {
    const { resources: _, resizePolicy: __, ...rest } = live[index] ?? {};
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  });
}

function listOf(spec: Fields, name: string): readonly Fields[] {
  return (spec[name] ?? []) as readonly Fields[];
}
