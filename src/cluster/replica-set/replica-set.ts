/**
 * Keeps the desired number of pods of ReplicaSets and ReplicationControllers.
 *
 * This controller shows the classic design: two informers that feed one queue, children with generated names, and
 * adoption. It needs no expectations as in client-go, because a list after a create or a delete shows what was
 * created and deleted.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
 */
import {
  allow,
  type Client,
  defineController,
  defineIndex,
  type Definition,
  type ObjectOf,
  type Resource,
  watch,
} from "../../index.ts";
import { Pod, ReplicaSet, ReplicationController } from "../../resource/builtin/index.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { type LabelSelector, labelSelector } from "../../resource/selector.ts";
import { claim } from "../workload/claim.ts";
import { controllerOf, controllerUid, isControlledBy, orphansOf } from "../workload/owner.ts";
import {
  createPod,
  deletePod,
  isNamespaceTerminating,
  podOf,
  type PodRun,
  serverMessage,
} from "../workload/pod-control.ts";
import { availableIn, isActive } from "../workload/pod-state.ts";
import { slowStart } from "../workload/slow-start.ts";
import { writeStatus } from "../workload/write-status.ts";
import { inDeletionOrder } from "./deletion-order.ts";
import { type Found, isWritten, statusOf } from "./status.ts";

type Pod_ = ObjectOf<typeof Pod>;
type ReplicaSet_ = ObjectOf<typeof ReplicaSet>;

/** The most pods that one run creates or deletes. */
const MAX_BURST = 500;

const podsByController = defineIndex(Pod, "controller", controllerUid);

interface Options {
  readonly clock?: Clock | undefined;
}

interface Variant {
  readonly name: string;
  readonly resource: typeof ReplicaSet;
  /** Returns the selector of the object's pods. */
  readonly selectorOf: (object: ReplicaSet_) => LabelSelector;
  readonly countsTerminating: boolean;
}

export function replicaSetController(options: Options = {}): Definition {
  return controllerOfReplicas(options, {
    name: "replica-set",
    resource: ReplicaSet,
    selectorOf: ({ spec }) => labelSelector(spec.selector),
    countsTerminating: true,
  });
}

/** Does the same for ReplicationControllers, whose selectors have an older form. */
export function replicationController(options: Options = {}): Definition {
  return controllerOfReplicas(options, {
    name: "replication-controller",
    resource: ReplicationController as Resource as typeof ReplicaSet,
    selectorOf: ({ spec }) => labelSelector({ matchLabels: spec.selector as Readonly<Record<string, string>> }),
    countsTerminating: false,
  });
}

function controllerOfReplicas({ clock = systemClock }: Options, variant: Variant): Definition {
  const { name, resource, selectorOf, countsTerminating } = variant;

  return defineController({
    name,
    concurrency: 16,
    for: resource,
    watches: [
      watch(Pod, {
        enqueue: async (pod, { client }) => {
          const { namespace, labels } = pod.metadata;
          const owner = controllerOf(pod);
          if (owner !== undefined) return owner.kind === resource.kind ? [{ namespace, name: owner.name }] : [];
          return (await client.list(resource, { namespace })).filter((one) => selectorOf(one).matches(labels)); // they may adopt it
        },
      }),
    ],
    uses: [allow(Pod, "create", "patch", "delete"), allow(resource, "status/update", "get")],
    async reconcile(owner, { client, events }) {
      const { namespace, uid } = owner.metadata;
      const selector = selectorOf(owner);
      const isSelected = ({ metadata }: Pod_): boolean => selector.matches(metadata.labels);
      const orphans = await client.list(Pod, { index: podsByController.is(orphansOf(namespace)) });
      const controlled = await client.list(Pod, { index: podsByController.is(uid) });
      const candidates = [...controlled, ...orphans].filter(isActive);
      const claimed = await claim(owner, candidates, { client, ownerKind: resource, kind: Pod, isSelected });

      const thrown = await scale(owner, claimed, { client, events, now: clock.now() });
      // A second list shows what has just been created and deleted.
      const pods = (await client.list(Pod, { index: podsByController.is(uid) })).filter(isSelected);
      const now = clock.now();
      const status = statusOf(owner, { pods, failure: thrown?.failure, countsTerminating, now });
      if (!isWritten(owner, status)) await writeStatus(client, resource, { ...owner, status });
      if (thrown !== undefined) throw thrown.error;
      return { requeueAfter: nextAvailable(owner, pods, now) };
    },
  });
}

interface Thrown {
  readonly error: unknown;
  readonly failure: Found["failure"];
}

/** Creates or deletes pods. @returns the failure, which is reported in the status before it is thrown. */
async function scale(
  owner: ReplicaSet_,
  pods: readonly Pod_[],
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
async function siblings(owner: ReplicaSet_, client: Client): Promise<readonly Pod_[]> {
  const controller = controllerOf(owner);
  const { namespace, uid } = owner.metadata;
  const sets =
    controller === undefined
      ? []
      : (await client.list(ReplicaSet, { namespace })).filter((one) =>
          isControlledBy(one, { ...controller, metadata: controller }),
        );
  const uids = new Set([uid, ...sets.map(({ metadata }) => metadata.uid)]);
  const lists = [...uids].map((one) => client.list(Pod, { index: podsByController.is(one) }));
  return (await Promise.all(lists)).flat();
}

/** Returns when the next ready pod becomes available. */
function nextAvailable({ spec }: ReplicaSet_, pods: readonly Pod_[], now: number): number | undefined {
  const { minReadySeconds } = spec;
  const waits = pods.filter(isActive).map((pod) => availableIn(pod, { minReadySeconds, now }) ?? 0);
  const next = waits.filter((wait) => wait > 0);
  return next.length === 0 ? undefined : Math.min(...next);
}
