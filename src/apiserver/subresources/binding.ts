/** `pods/binding` and `bindings`: what a scheduler does to a pod. */
import type { Fields, KubeObject } from "../hooks.ts";
import { conflict, notFound, StatusError } from "../status.ts";
import { ordered } from "../verbs/create.ts";
import { type Exchange, timestamp } from "../verbs/exchange.ts";

const pods = { group: "", plural: "pods" };

const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** @throws StatusError 500, as the real server has it: its errors of a binding never become a refusal. */
export function checkBinding(binding: KubeObject): void {
  const { target = {} } = binding as KubeObject & { target?: { kind?: string; name?: string } };
  const { kind = "", name = "" } = target;
  const errors: string[] = [];
  if (kind !== "" && kind !== "Node")
    errors.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  if (name === "") errors.push("target.name: Required value");
  if (errors.length === 0) return;
  const message = errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]`;
  throw new StatusError(500, "", { message });
}

/** Puts a pod on a node. */
export async function bind({ kernel, resource, target }: Exchange, binding: KubeObject, name: string): Promise<Fields> {
  const { target: node } = binding as KubeObject & { target?: { name?: string; kind?: string } };
  checkBinding(binding);
  const collection = kernel.storage.collection("/pods");
  const key = `${target.namespace}/${name}`;
  const stored = collection.get(key);
  if (stored === undefined) throw notFound(pods, name);
  const pod = stored.object;
  const spec = (pod["spec"] ?? {}) as Fields;
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict({ group: "", plural: `${resource.row.plural}/binding` }, name, {
      why: `pod ${name} is being deleted, cannot be assigned to a host`,
    });
  if (spec["nodeName"])
    throw conflict({ group: "", plural: "pods/binding" }, name, {
      why: `pod ${name} is already assigned to node ${JSON.stringify(spec["nodeName"])}`,
    });
  const conditions = (((pod["status"] ?? {}) as Fields)["conditions"] ?? []) as Fields[];
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(kernel.now()),
  };
  const others = conditions.filter(({ type }) => type !== "PodScheduled");
  const status = { ...(pod["status"] as Fields), conditions: [...others, scheduled] };
  const annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  const metadata = { ...pod.metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  const next = ordered({ ...pod, metadata, spec: { ...spec, nodeName: node?.name ?? "" }, status });
  kernel.storage.put(collection, key, next);
  await kernel.storage.committed();
  return success;
}
