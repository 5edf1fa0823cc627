/** Makes the pod that a daemon set runs on a node. */
import type { Affinity, DaemonSet, Pod, PodSpec, PodTemplateSpec, Toleration } from "../../resource/builtin/index.ts";

export const HASH_LABEL = "controller-revision-hash";
const GENERATION_LABEL = "pod-template-generation";
const GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";
const NODE_NAME = "metadata.name";

/** Problems of a node must not evict its daemons. */
const always: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];
const withHostNetwork: Toleration = {
  key: "node.kubernetes.io/network-unavailable",
  operator: "Exists",
  effect: "NoSchedule",
};

/** Returns the spec with the tolerations of a daemon. */
export function tolerant(spec: PodSpec): PodSpec {
  const tolerations = [...(spec.tolerations ?? [])];
  for (const toleration of spec.hostNetwork === true ? [...always, withHostNetwork] : always) {
    const same = tolerations.findIndex((one) => isSameTaint(one, toleration));
    if (same < 0) tolerations.push(toleration);
    else tolerations[same] = toleration;
  }
  return { ...spec, tolerations };
}

function isSameTaint(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? "") === (b.value ?? "");
}

export function templateFor({ spec, metadata }: DaemonSet, node: string, hash: string): PodTemplateSpec {
  const { template } = spec;
  const generation = metadata.annotations?.[GENERATION_ANNOTATION];
  const labels: Record<string, string> = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  if (generation !== undefined) labels[GENERATION_LABEL] = generation;
  const pod = tolerant(template.spec);
  return {
    metadata: { ...template.metadata, labels },
    spec: { ...pod, affinity: boundTo(pod.affinity, node) },
  };
}

/** Restricts the pod to its node, in addition to what the template requires of nodes. */
function boundTo(affinity: Affinity | undefined, node: string): Affinity {
  const term = { matchFields: [{ key: NODE_NAME, operator: "In", values: [node] }] };
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
    },
  };
}

/** The node that a pod runs on or waits for. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields) {
      if (key === NODE_NAME && operator === "In") return values.length === 1 ? values[0] : undefined;
    }
  }
  return undefined;
}

/** Whether a pod was made from the set's present template. */
export function isUpdated(set: DaemonSet, { metadata: { labels = {} } }: Pod, hash: string): boolean {
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}
