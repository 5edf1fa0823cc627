/** Finds the pods of a daemon set that a node lacks and those that it has too many of. */
import type { DaemonSet, Node, Pod } from "../../resource/builtin/index.ts";
import { isAvailable, isFinished, isReady } from "../workload/pod-state.ts";
import { HASH_LABEL, nodeOf, tolerant } from "./daemon-pod.ts";
import { type Fit, fitOf } from "./node-fit.ts";
import { byAge } from "../workload/owner.ts";
import { portionOf } from "../workload/portion.ts";

/** Groups the pods of a set by the node that they run on or wait for. */
export type PodsByNode = ReadonlyMap<string, readonly Pod[]>;

/** Ignores finished pods that are being deleted. */
export function groupByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    if (isFinished(pod) && pod.metadata.deletionTimestamp !== undefined) continue;
    const node = nodeOf(pod);
    if (node === undefined) continue;
    const there = byNode.get(node);
    if (there === undefined) byNode.set(node, [pod]);
    else there.push(pod);
  }
  return byNode;
}

/** How the set's pods fit this node. */
export function fitFor({ spec }: DaemonSet, node: Node): Fit {
  return fitOf(tolerant(spec.template.spec), node);
}

export interface Placement {
  /** Whether the node needs a pod. */
  readonly isMissing: boolean;
  readonly excess: readonly Pod[];
  /** Pods that have ended although daemons run for ever, and that must be replaced. */
  readonly ended: readonly Pod[];
}

/** The nodes and pods of a set at one time. */
export interface Situation {
  readonly nodes: readonly Node[];
  readonly byNode: PodsByNode;
  /** The hash of the set's present template. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function placementOn(node: Node, set: DaemonSet, { byNode, hash, now }: Omit<Situation, "nodes">): Placement {
  const pods = byNode.get(node.metadata.name);
  const { shouldRun, mayStay } = fitFor(set, node);
  const staying = (pods ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (!mayStay) return { isMissing: false, excess: staying, ended: [] };
  if (pods === undefined) return { isMissing: shouldRun, excess: [], ended: [] };
  const running = staying.filter((pod) => !isFinished(pod)).sort(byPlace);
  const ended = staying.filter(isFinished);
  if (!allowsSurge(set)) return { isMissing: false, excess: running.slice(1), ended };
  // A surge needs one pod that is not being deleted.
  if (running.length <= 1) return { isMissing: running.length === 0 && shouldRun, excess: [], ended };
  return { isMissing: false, excess: supersededOf(running, { hash, now, set }), ended };
}

/** Keeps both an old and a new pod while the old one is ready and the new one is not available yet. */
function supersededOf(
  running: readonly Pod[],
  { hash, now, set }: { readonly hash: string; readonly now: number; readonly set: DaemonSet },
): Pod[] {
  const isNew = ({ metadata }: Pod) => metadata.labels?.[HASH_LABEL] === hash;
  const oldestNew = running.find(isNew);
  const oldestOld = running.find((pod) => !isNew(pod));
  const superseded = running.filter((pod) => pod !== oldestNew && pod !== oldestOld);
  if (oldestNew === undefined || oldestOld === undefined) return superseded;
  const { minReadySeconds } = set.spec;
  if (!isReady(oldestOld) || isAvailable(oldestNew, { minReadySeconds, now })) superseded.push(oldestOld);
  return superseded;
}

/** Orders scheduled pods first, then by age. */
export function byPlace(a: Pod, b: Pod): number {
  return Number(!a.spec.nodeName) - Number(!b.spec.nodeName) || byAge(a, b);
}

/** Pods that wait for a node which no longer exists; no other controller would remove them. */
export function strandedPods(byNode: PodsByNode, nodes: readonly Node[]): Pod[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  return [...byNode].flatMap(([node, pods]) => (names.has(node) ? [] : pods.filter(({ spec }) => !spec.nodeName)));
}

/** Whether a node may have two pods during an update. */
function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).maxSurge > 0;
}

interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** The limits of an update: percentages are rounded up, and at least one of the two is 1. */
export function limitsOf({ spec }: DaemonSet, nodes: number): Limits {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const isRolling = type === "RollingUpdate" && rollingUpdate !== undefined;
  const maxSurge = isRolling ? portionOf(rollingUpdate.maxSurge, nodes, Math.ceil) : 0;
  const maxUnavailable = isRolling ? portionOf(rollingUpdate.maxUnavailable, nodes, Math.ceil) : 0;
  return { maxSurge, maxUnavailable: nodes > 0 && maxSurge === 0 ? Math.max(1, maxUnavailable) : maxUnavailable };
}
