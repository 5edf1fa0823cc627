/** Maintains the conditions that kube-apiserver itself writes into the status of flow schemas and API services. */
import type { Fields, KubeObject } from "../hooks.ts";
import { timestamp } from "../timestamp.ts";
import { type OwnWriter, writeApplied, writeStatus } from "./own-writes.ts";

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
  wanted(object: KubeObject, writer: OwnWriter): Wanted;
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
export function followConditions(writer: OwnWriter): () => void {
  const stops = kinds.map((kept) => {
    const collection = writer.storage.collection(`${kept.group}/${kept.plural}`);
    return collection.listen(({ type, stored }) => {
      if (type === "DELETED") return;
      // This runs after the response to the writer, who gets the object as of its own write.
      setImmediate(() => {
        const object = collection.get(stored.key)?.object;
        if (object !== undefined && object.metadata.deletionTimestamp === undefined) keep(kept, object, writer);
      });
    });
  });
  return () => {
    for (const stop of stops) stop();
  };
}

function keep(kept: Kept, object: KubeObject, writer: OwnWriter): void {
  const wanted = kept.wanted(object, writer);
  const status = (object["status"] ?? {}) as { conditions?: Wanted[] };
  const current = status.conditions?.find(({ type }) => type === wanted.type);
  if (current && ["status", "reason", "message"].every((name) => current[name] === wanted[name])) return;
  const isSame = current !== undefined && current.status === wanted.status && kept.operation === "Update";
  const lastTransitionTime = isSame ? current["lastTransitionTime"] : timestamp(writer.now());
  const condition = { ...wanted, lastTransitionTime };
  if (kept.operation === "Apply") {
    const fields = { status: { conditions: [condition] } };
    writeApplied(writer, kept, { live: object, fields, manager: kept.manager, subresource: "status" });
  } else {
    const others = (status.conditions ?? []).filter(({ type }) => type !== wanted.type);
    writeStatus(writer, kept, { object, status: { ...status, conditions: [...others, condition] } });
  }
}

function dangling(schema: KubeObject, { storage }: OwnWriter): Wanted {
  const { priorityLevelConfiguration: level } = schema["spec"] as { priorityLevelConfiguration?: { name?: string } };
  const name = level?.name ?? "";
  const levels = storage.collection("flowcontrol.apiserver.k8s.io/prioritylevelconfigurations");
  const exists = levels.get(name) !== undefined;
  const references = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
  return exists
    ? { type: "Dangling", status: "False", reason: "Found", message: `${references} and it exists` }
    : { type: "Dangling", status: "True", reason: "NotFound", message: `${references} but there is no such object` };
}

function available(service: KubeObject, { storage }: OwnWriter): Wanted {
  const { service: target } = service["spec"] as { service?: { namespace: string; name: string } };
  if (!target) {
    return { type: "Available", status: "True", reason: "Local", message: "Local APIServices are always available" };
  }
  const { namespace, name } = target;
  const known = storage.collection("/services").get(`${namespace}/${name}`) !== undefined;
  const reference = `service/${name} in ${JSON.stringify(namespace)}`;
  return known
    ? {
        type: "Available",
        status: "False",
        reason: "EndpointsNotFound",
        message: `cannot find endpointslices for ${reference}`,
      }
    : { type: "Available", status: "False", reason: "ServiceNotFound", message: `${reference} is not present` };
}
