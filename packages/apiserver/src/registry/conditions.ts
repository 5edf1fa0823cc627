/** Maintains the conditions that kube-apiserver itself writes into the status of flow schemas and API services. */
import type { Fields, KubeObject } from "../hooks.ts";
import type { Machinery } from "../machinery.ts";
import type { Storage } from "../storage/storage.ts";
import type { KindRegistry } from "./kind-registry.ts";

interface Around {
  readonly storage: Storage;
  readonly registry: KindRegistry;
  readonly machinery: Machinery;
  /** Returns the time as RFC 3339 in whole seconds. */
  readonly now: () => string;
}

interface Wanted extends Fields {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Kept {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  wanted(object: KubeObject, around: Around): Wanted;
}

const kinds: readonly Kept[] = [
  {
    group: "flowcontrol.apiserver.k8s.io",
    plural: "flowschemas",
    kind: "FlowSchema",
    manager: "api-priority-and-fairness-config-consumer-v1",
    operation: "Apply",
    wanted: dangling,
  },
  {
    group: "apiregistration.k8s.io",
    plural: "apiservices",
    kind: "APIService",
    manager: "kube-apiserver",
    operation: "Update",
    wanted: available,
  },
];

/** Writes each condition shortly after its object is written. @returns a function that ends it. */
export function followConditions(around: Around): () => void {
  const stops = kinds.map((kept) => {
    const collection = around.storage.collection(`${kept.group}/${kept.plural}`);
    return collection.listen(({ type, stored }) => {
      if (type === "DELETED") return;
      // This runs after the response to the writer, who gets the object as of its own write.
      setImmediate(() => {
        const object = collection.get(stored.key)?.object;
        if (object !== undefined && object.metadata.deletionTimestamp === undefined) keep(kept, object, around);
      });
    });
  });
  return () => {
    for (const stop of stops) stop();
  };
}

function keep(kept: Kept, object: KubeObject, around: Around): void {
  const wanted = kept.wanted(object, around);
  const status = (object["status"] ?? {}) as { conditions?: Wanted[] };
  const found = status.conditions?.find(({ type }) => type === wanted.type);
  if (found && ["status", "reason", "message"].every((name) => found[name] === wanted[name])) return;
  const { storage, registry, machinery, now } = around;
  const row = registry.get(kept.group, "v1", kept.plural);
  if (row?.schema === undefined) return;
  const isSame = found !== undefined && found.status === wanted.status && kept.operation === "Update";
  const condition = { ...wanted, lastTransitionTime: isSame ? found["lastTransitionTime"] : now() };
  const apiVersion = `${kept.group}/v1`;
  const common = {
    schema: row.schema,
    manager: kept.manager,
    subresource: "status",
    apiVersion,
    now: now(),
    resetFields: [],
  };
  const { name = "" } = object.metadata;
  let next: KubeObject;
  if (kept.operation === "Apply") {
    const applied = { apiVersion, kind: kept.kind, metadata: { name }, status: { conditions: [condition] } };
    next = machinery.patches.apply({ ...common, live: object, applied, force: true });
  } else {
    const others = (status.conditions ?? []).filter(({ type }) => type !== wanted.type);
    const changed = { ...object, status: { ...status, conditions: [...others, condition] } };
    next = machinery.patches.updateManagedFields({ ...common, live: object, next: changed, operation: "Update" });
  }
  const collection = storage.collection(`${kept.group}/${kept.plural}`);
  storage.put(collection, name, { ...next, metadata: { ...next.metadata } });
}

function dangling(schema: KubeObject, { storage }: Around): Wanted {
  const { priorityLevelConfiguration: level } = schema["spec"] as { priorityLevelConfiguration?: { name?: string } };
  const name = level?.name ?? "";
  const levels = storage.collection("flowcontrol.apiserver.k8s.io/prioritylevelconfigurations");
  const exists = levels.get(name) !== undefined;
  const references = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
  return exists
    ? { type: "Dangling", status: "False", reason: "Found", message: `${references} and it exists` }
    : { type: "Dangling", status: "True", reason: "NotFound", message: `${references} but there is no such object` };
}

function available(service: KubeObject, { storage }: Around): Wanted {
  const { service: target } = service["spec"] as { service?: { namespace: string; name: string } };
  if (!target) {
    return { type: "Available", status: "True", reason: "Local", message: "Local APIServices are always available" };
  }
  const { namespace, name } = target;
  const known = storage.collection("/services").get(`${namespace}/${name}`) !== undefined;
  const shown = `service/${name} in ${JSON.stringify(namespace)}`;
  return known
    ? {
        type: "Available",
        status: "False",
        reason: "EndpointsNotFound",
        message: `cannot find endpointslices for ${shown}`,
      }
    : { type: "Available", status: "False", reason: "ServiceNotFound", message: `${shown} is not present` };
}
