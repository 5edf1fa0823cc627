/**
 * Keeps the desired number of pods of ReplicaSets and ReplicationControllers.
 *
 * This controller shows the classic design: two informers that feed one queue, children with generated names, and
 * adoption. It needs no expectations as in client-go, because a list after a create or a delete shows what was
 * created and deleted.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
 */
import { allow, type Client, defineController, type Definition, type Resource, watch } from "../../index.ts";
import { Pod, ReplicaSet, ReplicationController } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { type LabelSelector, labelSelector } from "../../resource/selector.ts";
import { OwnedKind } from "../workload/owned-kind.ts";
import { byController, controllerOf, isControlledBy } from "../workload/owner.ts";
import {
  createPod,
  deletePod,
  isNamespaceTerminating,
  podOf,
  type PodRun,
  serverMessage,
} from "../workload/pod-control.ts";
import { isActive, nextAvailableIn } from "../workload/pod-state.ts";
import { slowStart } from "../workload/slow-start.ts";
import { runIn } from "../workload/time.ts";
import { isWritten, writeStatus } from "../workload/write-status.ts";
import { inDeletionOrder } from "./deletion-order.ts";
import { type StatusInput, statusOf } from "./status.ts";

/** The most pods that one run creates or deletes. */
const MAX_BURST = 500;

interface Variant {
  readonly name: string;
  readonly resource: typeof ReplicaSet;
  /** Returns the selector of the object's pods. */
  readonly selectorOf: (object: ReplicaSet) => LabelSelector;
  readonly countsTerminating: boolean;
}

export function replicaSetController(clock: Clock): Definition {
  return controllerOfReplicas(clock, {
    name: "replica-set",
    resource: ReplicaSet,
    selectorOf: ({ spec }) => labelSelector(spec.selector),
    countsTerminating: true,
  });
}

/** Does the same for ReplicationControllers, whose selectors have an older form. */
export function replicationController(clock: Clock): Definition {
  return controllerOfReplicas(clock, {
    name: "replication-controller",
    resource: ReplicationController as Resource as typeof ReplicaSet,
    selectorOf: ({ spec }) => labelSelector({ matchLabels: spec.selector as Readonly<Record<string, string>> }),
    countsTerminating: false,
  });
}

function controllerOfReplicas(clock: Clock, variant: Variant): Definition {
  const { name, resource, selectorOf, countsTerminating } = variant;
  const selecting = (set: ReplicaSet) => {
    const selector = selectorOf(set);
    return ({ metadata }: Pod) => selector.matches(metadata.labels);
  };
  const owned = new OwnedKind({ owner: resource, kind: Pod, selects: selecting });
  return defineController({
    name,
    concurrency: 16,
    for: resource,
    watches: [
      watch(Pod, {
        enqueue: async (pod, { client }) => {
          const owner = controllerOf(pod);
          if (owner === undefined) return owned.adopters(pod, client);
          return owner.kind === resource.kind ? [{ namespace: pod.metadata.namespace, name: owner.name }] : [];
        },
      }),
    ],
    uses: [allow(Pod, "create", "patch", "delete"), allow(resource, "status/update", "get")],
    async reconcile(owner, { client, events }) {
      const claimed = await owned.claim(owner, client, isActive);
      const problem = await scale(owner, claimed, { client, events, now: clock.now() });
      // A second list shows what has just been created and deleted.
      const pods = (await owned.controlled(owner, client)).filter(selecting(owner));
      const now = clock.now();
      const status = statusOf(owner, { pods, failure: problem?.failure, countsTerminating, now });
      if (!isWritten(owner.status, status)) await writeStatus(client, resource, { ...owner, status });
      if (problem !== undefined) throw problem.error;
      const { minReadySeconds } = owner.spec;
      return runIn(nextAvailableIn(pods.filter(isActive), { minReadySeconds, now }));
    },
  });
}

interface Thrown {
  readonly error: unknown;
  readonly failure: StatusInput["failure"];
}

/** Creates or deletes pods. @returns the failure, which is reported in the status before it is thrown. */
async function scale(
  owner: ReplicaSet,
  pods: readonly Pod[],
  run: PodRun & { now: number },
): Promise<Thrown | undefined> {
  const { replicas = 1, template } = owner.spec;
  const missing = replicas - pods.length;
  try {
    if (missing > 0) await slowStart(Math.min(missing, MAX_BURST), () => createPod(podOf(template, owner), run));
    if (missing < 0) {
      const related = await siblings(owner, run.client);
      const order = inDeletionOrder(pods, { related, now: run.now });
      await Promise.all(order.slice(0, Math.min(-missing, MAX_BURST)).map((pod) => deletePod(pod, run)));
    }
    return undefined;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    return { error, failure: { reason: missing > 0 ? "FailedCreate" : "FailedDelete", message: serverMessage(error) } };
  }
}

/** Returns the pods of all ReplicaSets that have the same controller. */
async function siblings(owner: ReplicaSet, client: Client): Promise<readonly Pod[]> {
  const controller = controllerOf(owner);
  const { namespace, uid } = owner.metadata;
  const sets =
    controller === undefined
      ? []
      : (await client.list(ReplicaSet, { namespace })).filter((one) =>
          isControlledBy(one, { ...controller, metadata: controller }),
        );
  const uids = new Set([uid, ...sets.map(({ metadata }) => metadata.uid)]);
  const lists = [...uids].map((one) => client.list(Pod, { index: byController(Pod).is(one) }));
  return (await Promise.all(lists)).flat();
}
