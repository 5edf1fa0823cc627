/** Maintains the conditions that kube-apiserver itself writes into the status of flow schemas and API services. */
import type { Fields, KubeObject } from "../hooks.ts";
import { timestamp } from "../timestamp.ts";
import { type OwnWriter, writeApplied, writeStatus } from "./own-writes.ts";

interface Condition extends Fields {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface MaintainedKind {
  readonly group: string;
  readonly plural: string;
  /** The manager that applies the condition. @default none: `kube-apiserver` updates the status */
  readonly applier?: string;
  condition(object: KubeObject, writer: OwnWriter): Condition;
}

const kinds: readonly MaintainedKind[] = [
  {
    group: "flowcontrol.apiserver.k8s.io",
    plural: "flowschemas",
    applier: "api-priority-and-fairness-config-consumer-v1",
    condition: dangling,
  },
  {
    group: "apiregistration.k8s.io",
    plural: "apiservices",
    condition: available,
  },
];

/** Writes each condition shortly after its object is written. @returns a function that ends it. */
export function followConditions(writer: OwnWriter): () => void {
  const stops = kinds.map((kind) => {
    const collection = writer.storage.collection(`${kind.group}/${kind.plural}`);
    return collection.listen(({ type, stored }) => {
      if (type === "DELETED") return;
      // The step runs after the response to the writer, which shows the object as the client wrote it.
      setImmediate(() => {
        const object = collection.get(stored.key)?.object;
        if (object !== undefined && object.metadata.deletionTimestamp === undefined) maintain(kind, object, writer);
      });
    });
  });
  return () => {
    for (const stop of stops) stop();
  };
}

function maintain(kind: MaintainedKind, object: KubeObject, writer: OwnWriter): void {
  const next = kind.condition(object, writer);
  const status = (object["status"] ?? {}) as { conditions?: Condition[] };
  const current = status.conditions?.find(({ type }) => type === next.type);
  if (current && ["status", "reason", "message"].every((name) => current[name] === next[name])) return;
  const isSame = current !== undefined && current.status === next.status && kind.applier === undefined;
  const lastTransitionTime = isSame ? current["lastTransitionTime"] : timestamp(writer.now());
  const condition = { ...next, lastTransitionTime };
  if (kind.applier !== undefined) {
    const fields = { status: { conditions: [condition] } };
    writeApplied(writer, kind, { live: object, fields, manager: kind.applier, subresource: "status" });
  } else {
    const others = (status.conditions ?? []).filter(({ type }) => type !== next.type);
    writeStatus(writer, kind, { object, status: { ...status, conditions: [...others, condition] } });
  }
}

function dangling(schema: KubeObject, { storage }: OwnWriter): Condition {
  const { priorityLevelConfiguration: level } = schema["spec"] as { priorityLevelConfiguration?: { name?: string } };
  const name = level?.name ?? "";
  const levels = storage.collection("flowcontrol.apiserver.k8s.io/prioritylevelconfigurations");
  const exists = levels.get(name) !== undefined;
  const references = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
  return exists
    ? { type: "Dangling", status: "False", reason: "Found", message: `${references} and it exists` }
    : { type: "Dangling", status: "True", reason: "NotFound", message: `${references} but there is no such object` };
}

function available(service: KubeObject, { storage }: OwnWriter): Condition {
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
