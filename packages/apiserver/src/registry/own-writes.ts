/** Writes that the server makes itself, without a request. */
import type { Fields, KubeObject, ResourceName } from "../hooks.ts";
import { serverSideApply } from "../patch/server-side-apply.ts";
import { updateManagedFields } from "../patch/update-managed-fields.ts";
import type { Storage } from "../storage/storage.ts";
import { ordered } from "../storage/stored.ts";
import { timestamp } from "../timestamp.ts";
import type { KindRegistry } from "./kind-registry.ts";
import { keyOf } from "./resource.ts";

/** The parts of the server that its own writes need. */
export interface OwnWriter {
  readonly storage: Storage;
  readonly registry: KindRegistry;
  /** The current time in milliseconds. */
  readonly now: () => number;
}

/** Stores an object with a new status, as the manager `kube-apiserver`. */
export function writeStatus(
  writer: OwnWriter,
  resource: ResourceName,
  { object, status }: { readonly object: KubeObject; readonly status: Fields },
): void {
  store(writer, resource, object, (common) =>
    updateManagedFields({ ...common, next: { ...object, status }, manager: "kube-apiserver", subresource: "status" }),
  );
}

export interface OwnApply {
  /** The object before. */
  readonly live: KubeObject;
  /** The fields that the manager owns, besides kind, version and name. */
  readonly fields: Fields;
  readonly manager: string;
  /** The subresource; `""` for the object itself. */
  readonly subresource: string;
}

/** Applies fields by force and stores the result. */
export function writeApplied(
  writer: OwnWriter,
  resource: ResourceName,
  { live, fields, manager, subresource }: OwnApply,
): void {
  const { kind, apiVersion, metadata } = live;
  const applied = { apiVersion, kind, metadata: { name: metadata.name ?? "" }, ...fields };
  store(writer, resource, live, (common) => {
    return serverSideApply({ ...common, applied, manager, subresource, force: true }).object;
  });
}

type Common = Pick<Parameters<typeof updateManagedFields>[0], "schema" | "live" | "apiVersion" | "now">;

function store(
  { storage, registry, now }: OwnWriter,
  { group, plural }: ResourceName,
  live: KubeObject,
  change: (common: Common) => KubeObject,
): void {
  const { apiVersion, metadata } = live;
  const resource = registry.get(group, apiVersion.split("/").at(-1) ?? "", plural);
  if (resource?.schema === undefined) return;
  const next = change({ schema: resource.schema, live, apiVersion, now: timestamp(now()) });
  storage.put(resource.collection, keyOf(resource, metadata.namespace ?? "", metadata.name ?? ""), ordered(next));
}
