/** `pods/eviction`, `pods/binding` and `bindings`: what others do to a pod. */
import type { Fields, KubeObject } from "../hooks.ts";
import { conflict, notFound, StatusError } from "../status.ts";
import { ordered } from "../verbs/create.ts";
import { deleteObject } from "../verbs/delete.ts";
import type { DeleteOptions } from "../verbs/delete-options.ts";
import { type Exchange, timestamp } from "../verbs/exchange.ts";
import { parseLabels } from "../request/label-selector.ts";

const pods = { group: "", plural: "pods" };

const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** Deletes a pod when its disruption budget allows it. */
export async function evict(exchange: Exchange, eviction: KubeObject, dryRun: boolean): Promise<Fields> {
  const { kernel, target } = exchange;
  const pod = kernel.reader.get(pods, target);
  if (pod === undefined) throw notFound(pods, target.name);
  const { deleteOptions } = eviction as KubeObject & { deleteOptions?: DeleteOptions };
  if (!isOver(pod)) checkBudget(exchange, pod);
  const options = { ...deleteOptions, ...(dryRun ? { dryRun: ["All"] } : {}) };
  await deleteObject(exchange, { name: target.name, options });
  return success;
}

/** @throws StatusError 500, as the real server has it: its errors of a binding never become a refusal. */
function checkBinding({ kind = "", name = "" }: { readonly kind?: string; readonly name?: string } = {}): void {
  const errors: string[] = [];
  if (kind !== "" && kind !== "Node")
    errors.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  if (name === "") errors.push("target.name: Required value");
  if (errors.length === 0) return;
  const message = errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]`;
  throw new StatusError(500, "", { message });
}

/** Pods that have ended, or end, disrupt nobody. */
function isOver({ metadata, status }: KubeObject & { status?: unknown }): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || metadata.deletionTimestamp !== undefined;
}

interface Budget {
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Record<string, string>; readonly matchExpressions?: Expression[] };
  };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly observedGeneration?: number;
    readonly desiredHealthy?: number;
    readonly currentHealthy?: number;
  };
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

function checkBudget({ kernel, target }: Exchange, pod: KubeObject): void {
  const name = { group: "policy", plural: "poddisruptionbudgets" };
  const budgets = kernel.reader.list(name, target.namespace).filter((budget) => matches(budget as Budget, pod));
  if (budgets.length > 1)
    throw new StatusError(500, "InternalError", {
      message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    });
  const [budget] = budgets;
  if (budget === undefined) return;
  const { status = {} } = budget as Budget;
  const allowed = status.disruptionsAllowed ?? 0;
  if (allowed > 0 && (status.observedGeneration ?? 0) >= (budget.metadata.generation ?? 0)) {
    const collection = kernel.storage.collection("policy/poddisruptionbudgets");
    const key = `${target.namespace}/${budget.metadata.name ?? ""}`;
    const disruptedPods = {
      ...((status as Fields)["disruptedPods"] as Fields),
      [target.name]: timestamp(kernel.now()),
    };
    const next = { ...status, disruptionsAllowed: allowed - 1, disruptedPods };
    kernel.storage.put(collection, key, ordered({ ...budget, metadata: { ...budget.metadata }, status: next }));
    return;
  }
  const budgetName = budget.metadata.name ?? "";
  const { desiredHealthy = 0, currentHealthy = 0 } = status;
  throw new StatusError(429, "TooManyRequests", {
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        {
          reason: "DisruptionBudget",
          message: `The disruption budget ${budgetName} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
        },
      ],
    },
  });
}

function matches({ spec }: Budget, pod: KubeObject): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {};
  const parts = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values = [] } of matchExpressions) {
    if (operator === "Exists") parts.push(key);
    else if (operator === "DoesNotExist") parts.push(`!${key}`);
    else parts.push(`${key} ${operator.toLowerCase()} (${values.join(",")})`);
  }
  return parseLabels(parts.join(","))(pod.metadata.labels);
}

/** Puts a pod on a node. */
export async function bind({ kernel, resource, target }: Exchange, binding: KubeObject, name: string): Promise<Fields> {
  const { target: node } = binding as KubeObject & { target?: { name?: string; kind?: string } };
  checkBinding(node);
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
