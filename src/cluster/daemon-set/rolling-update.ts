/**
 * Decides the next step of a daemon set's rolling update.
 *
 * Without a surge it only deletes old pods, and missing pods are created in their place. With a surge it creates the
 * new pod first and deletes the old one when the new one is available.
 *
 * @see https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/
 */
import type { DaemonSet, Node, Pod } from "../../resource/builtin/index.ts";
import { isAvailable } from "../workload/pod-state.ts";
import { isUpdated } from "./daemon-pod.ts";
import { fitFor, limitsOf, type Situation } from "./placement.ts";

export interface Step {
  readonly remove: readonly Pod[];
  /** The names of the nodes that get a pod. */
  readonly create: readonly string[];
}

/** A node during an update, with at most one pod from each template. */
interface Place {
  readonly node: Node | undefined;
  readonly name: string;
  readonly fresh: Pod | undefined;
  readonly old: Pod | undefined;
  /** Whether the node has more pods than that; the surplus is deleted first. */
  readonly isCrowded: boolean;
}

export function nextStep(set: DaemonSet, situation: Situation): Step {
  const eligible = situation.nodes.filter((node) => fitFor(set, node).shouldRun);
  const places = placesOf(set, situation, eligible);
  const available = (pod: Pod) => isAvailable(pod, { minReadySeconds: set.spec.minReadySeconds, now: situation.now });
  const { maxSurge, maxUnavailable } = limitsOf(set, eligible.length);
  return maxSurge === 0
    ? { create: [], remove: replaceable(places, available, maxUnavailable) }
    : surge(places, { set, available, maxSurge, wanted: eligible.length });
}

function placesOf(set: DaemonSet, { nodes, byNode, hash }: Situation, eligible: readonly Node[]): Place[] {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]));
  const names = new Set([...eligible.map(({ metadata }) => metadata.name), ...byNode.keys()]);
  return [...names].map((name) => {
    const pods = (byNode.get(name) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const fresh = pods.filter((pod) => isUpdated(set, pod, hash));
    const old = pods.filter((pod) => !isUpdated(set, pod, hash));
    return { name, node: known.get(name), fresh: fresh[0], old: old[0], isCrowded: fresh.length > 1 || old.length > 1 };
  });
}

type Availability = (pod: Pod) => boolean;

/** Returns the old pods that may be deleted: all unavailable ones, and available ones up to `maxUnavailable`. */
function replaceable(places: readonly Place[], available: Availability, maxUnavailable: number): Pod[] {
  let unavailable = 0;
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  for (const { fresh, old, isCrowded } of places) {
    if (isCrowded || (old === undefined) === (fresh === undefined)) unavailable++;
    else if (fresh !== undefined) unavailable += available(fresh) ? 0 : 1;
    else if (old !== undefined && !available(old)) {
      broken.push(old);
      unavailable++;
    } else if (old !== undefined) candidates.push(old);
  }
  return [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))];
}

interface Surge {
  readonly set: DaemonSet;
  readonly available: Availability;
  readonly maxSurge: number;
  /** How many pods the set wants. */
  readonly wanted: number;
}

function surge(places: readonly Place[], { set, available, maxSurge, wanted }: Surge): Step {
  let surging = 0;
  let availables = 0;
  const remove: Pod[] = [];
  const leaving: Pod[] = [];
  const broken: string[] = [];
  const candidates: string[] = [];
  for (const { name, node, fresh, old, isCrowded } of places) {
    if (isCrowded) {
      surging++;
      continue;
    }
    const first = old ?? fresh;
    if (first !== undefined && available(first)) availables++;
    if (old === undefined) continue; // a missing pod is created anyway
    if (fresh !== undefined) {
      if (available(fresh)) remove.push(old);
      else surging++;
    } else if (node === undefined || !fitFor(set, node).shouldRun) (available(old) ? leaving : remove).push(old);
    else (available(old) ? candidates : broken).push(name);
  }
  // On a node where the daemon no longer belongs, it stays until enough others are available.
  remove.push(...leaving.slice(0, Math.max(0, availables - wanted)));
  return { remove, create: [...broken, ...candidates.slice(0, Math.max(0, maxSurge - surging))] };
}
