/** Serves `pods/binding` and `bindings`, with which a scheduler assigns a pod to a node. */
import { ordered } from "../storage/stored.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { badRequest, conflict, notFound, StatusError } from "../status.ts";
import { timestamp } from "../timestamp.ts";
import type { ApiCall } from "../verbs/api-call.ts";
import type { Action } from "./action.ts";

const pods = { group: "", plural: "pods" };

/** The resource that the real server's errors name for a pod that cannot be bound. */
const bindings = { group: "", plural: "pods/binding" };

const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** Checks a binding. @throws StatusError 500, as on the real server, where errors of a binding never become a 4xx */
function checkBinding(binding: KubeObject): void {
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

/** Assigns the pod of the path. */
export const bindingOfPod: Action = {
  async run(call, binding, { dryRun, admit }) {
    const { name } = call.target;
    if (binding.metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
    checkBinding(binding);
    await admit(binding);
    return bind(call, binding, { name, dryRun });
  },
};

/** Assigns the pod that a binding names, whose UID does not matter. @throws StatusError */
export async function createBinding(
  call: ApiCall,
  binding: KubeObject,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Fields> {
  const { name = "" } = binding.metadata;
  checkBinding(binding);
  if (name === "") throw badRequest("Name parameter required.");
  return bind(call, { ...binding, metadata: { ...binding.metadata, uid: "" } }, { name, dryRun });
}

/** Assigns a pod to a node; a dry run checks everything and stores nothing. @throws StatusError */
async function bind(
  { kernel, target }: ApiCall,
  binding: KubeObject,
  { name, dryRun }: { readonly name: string; readonly dryRun: boolean },
): Promise<Fields> {
  const { target: node } = binding as KubeObject & { target?: { name?: string; kind?: string } };
  const collection = kernel.storage.collection("/pods");
  const key = `${target.namespace}/${name}`;
  const stored = collection.get(key);
  if (stored === undefined) throw notFound(pods, name);
  const pod = stored.object;
  checkPreconditions(binding.metadata, pod, `${dryRun ? "" : "/registry"}/pods/${key}`);
  const spec = (pod["spec"] ?? {}) as Fields;
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(bindings, name, { why: `pod ${name} is being deleted, cannot be assigned to a host` });
  if (spec["nodeName"])
    throw conflict(bindings, name, {
      why: `pod ${name} is already assigned to node ${JSON.stringify(spec["nodeName"])}`,
    });
  if (((spec["schedulingGates"] ?? []) as unknown[]).length > 0)
    throw conflict(bindings, name, { why: `pod ${name} has non-empty .spec.schedulingGates` });
  if (dryRun) return success;
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
  const labels = { ...pod.metadata.labels, ...binding.metadata.labels };
  const metadata = {
    ...pod.metadata,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
  const next = ordered({ ...pod, metadata, spec: { ...spec, nodeName: node?.name ?? "" }, status });
  kernel.storage.put(collection, key, next);
  await kernel.storage.committed();
  return success;
}

/** Checks the preconditions of a binding on the pod's UID and version. @throws StatusError 409 */
function checkPreconditions(about: KubeObject["metadata"], pod: KubeObject, key: string): void {
  const fields = { UID: "uid", ResourceVersion: "resourceVersion" } as const;
  for (const [name, field] of Object.entries(fields)) {
    const expected = about[field];
    const actual = pod.metadata[field] ?? "";
    if (!expected || expected === actual) continue;
    const detail = `Precondition failed: ${name} in precondition: ${expected}, ${name} in object meta: ${actual}`;
    const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
    throw conflict(pods, pod.metadata.name ?? "", { why });
  }
}
