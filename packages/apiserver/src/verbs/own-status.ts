/** Writes statuses on behalf of the server itself. */
import type { Fields, KubeObject, ResourceName } from "../hooks.ts";
import type { Machinery } from "../machinery.ts";
import type { KindRegistry } from "../registry/kind-registry.ts";
import { apiVersionOf, keyOf } from "../registry/resource.ts";
import type { Storage } from "../storage/storage.ts";
import { ordered } from "./create.ts";
import { timestamp } from "./api-call.ts";

interface Around {
  readonly storage: Storage;
  readonly registry: KindRegistry;
  readonly machinery: Machinery;
  /** The current time in milliseconds. */
  readonly now: () => number;
}

/** Stores the object with this status, as the manager `kube-apiserver`. */
export function setOwnStatus(around: Around, resource: ResourceName, { object, status }: OwnStatus): void {
  const { storage, registry, machinery, now } = around;
  const version = object.apiVersion.split("/").at(-1) ?? "";
  const served = registry.get(resource.group, version, resource.plural);
  if (served?.schema === undefined) return;
  const next = machinery.patches.updateManagedFields({
    schema: served.schema,
    live: object,
    next: { ...object, metadata: { ...object.metadata }, status },
    manager: "kube-apiserver",
    operation: "Update",
    subresource: "status",
    apiVersion: apiVersionOf(served.row),
    now: timestamp(now()),
    resetFields: [["spec"]],
  });
  const { namespace = "", name = "" } = object.metadata;
  storage.put(served.collection, keyOf(served, namespace, name), ordered({ ...next, metadata: { ...next.metadata } }));
}

export interface OwnStatus {
  readonly object: KubeObject;
  readonly status: Fields;
}
