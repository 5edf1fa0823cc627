/**
 * Stands in for the kubelet of every node: pods on a node run without machines, as a script says.
 *
 * Without a script they are Running and Ready at once, those with `restartPolicy` OnFailure or Never succeed at once,
 * and a deleted pod is gone at once.
 */
import {
  allow,
  type Client,
  defineKeyController,
  type Definition,
  isConflict,
  isNotFound,
  watch,
} from "../../index.ts";
import type { Result } from "../../index.ts";
import { CoreEvent, Node, Pod, type PodCondition, type PodStatus } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { sameJson } from "../../resource/json.ts";
import { isFinished } from "../workload/pod-state.ts";
import { reportMistake } from "./mistake-event.ts";
import { NODE_ADDRESS } from "./node.ts";
import type { PodBehaviour } from "./pod-behaviour.ts";
import { PodMemory } from "./pod-memory.ts";
import { nextPodStep, type PodContext, stoppedPodStatus, stopsAfter } from "./pod-run.ts";
import type { KubeletStatus } from "./pod-status.ts";

/** Runs the pods that are bound to a node. */
export function kubelet(clock: Clock, behaviour: PodBehaviour | undefined): Definition {
  const memory = new PodMemory();
  const addresses = new PodAddresses();

  return defineKeyController({
    name: "kubelet",
    concurrency: 16,
    // Not `for: Pod`: the kubelet also works on pods that are being deleted, and has no finalizer.
    watches: [watch(Pod, { match: ({ spec }) => spec.nodeName !== undefined, enqueue: (pod) => [pod] })],
    reads: [Node],
    uses: [allow(Pod, "status/patch", "delete"), allow(CoreEvent, "create")],
    async reconcile({ namespace = "", name }, { client }) {
      const pod = await client.find(Pod, { namespace, name });
      const id = `${namespace}/${name}`;
      if (pod?.spec.nodeName === undefined) {
        memory.forget(id);
        return undefined;
      }
      addresses.saw(pod.status?.podIP);
      const node = await client.find(Node, { name: pod.spec.nodeName });
      const hostIP = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? NODE_ADDRESS;
      const newPodIP = () => addresses.next();
      const times = memory.of(id, pod.metadata.uid);
      const context: PodContext = { pod, behaviour, times, now: clock.now(), hostIP, newPodIP };
      return pod.metadata.deletionTimestamp === undefined ? run(client, context) : stop(client, context);
    },
  });
}

/** Takes the steps of a pod that are due, and waits for the next one. */
async function run(client: Client, context: PodContext): Promise<Result | undefined> {
  let { pod } = context;
  while (!isFinished(pod)) {
    const { status, again } = nextPodStep({ ...context, pod });
    const before = pod;
    pod = await write(client, pod, status);
    if (pod !== before) await reportMistake(client, pod, { before, now: context.now });
    if (again === undefined) return undefined;
    if (again > 0 || pod === before) return { requeueAfter: again };
  }
  return undefined;
}

/** Gives the containers time to stop, then deletes the object. */
async function stop(client: Client, context: PodContext): Promise<Result | undefined> {
  let { pod } = context;
  const { times, now } = context;
  const { name, namespace, uid, deletionGracePeriodSeconds = 0, finalizers } = pod.metadata;
  const left = isFinished(pod) ? 0 : times.deleted(now) + stopsAfter(context) - now;
  if (left > 0) return { requeueAfter: left };
  // A finalizer means that somebody waits to see how the pod ended.
  if (finalizers !== undefined && !isFinished(pod)) pod = await write(client, pod, stoppedPodStatus(context));
  if (deletionGracePeriodSeconds === 0 && finalizers !== undefined) return undefined; // finalizers keep the object
  try {
    await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    if (isConflict(error)) return { requeueAfter: 10 }; // the pod has changed meanwhile
    if (!isNotFound(error)) throw error;
  }
  return undefined;
}

/** Writes the parts of the status that differ; conditions of other writers stay. */
async function write(client: Client, pod: Pod, status: KubeletStatus): Promise<Pod> {
  if (isWritten(pod, status)) return pod;
  const { name, namespace, uid } = pod.metadata;
  // A strategic merge patch keeps fields that it does not name, so a reason that no longer applies must be named.
  const conditions = status.conditions?.map((one) => ({
    ...one,
    reason: one.reason ?? null,
    message: one.message ?? null,
  }));
  const body = { metadata: { uid }, status: { ...status, conditions } };
  const key = { namespace, name };
  return (await client.subresource("status").patch(Pod, key, { type: "strategic", body })) as Pod;
}

function isWritten({ status: present }: Pod, { conditions = [], ...fields }: KubeletStatus): boolean {
  if (present === undefined) return false;
  const hasField = ([field, value]: [string, unknown]): boolean =>
    value === undefined || sameJson(value, present[field as keyof PodStatus]);
  const hasCondition = ({ type, ...wanted }: PodCondition): boolean => {
    const { lastProbeTime: _, type: __, ...found } = present.conditions?.find((one) => one.type === type) ?? {};
    return sameJson(found, wanted);
  };
  return Object.entries(fields).every(hasField) && conditions.every(hasCondition);
}

/** Allocates the addresses of 10.244.0.0/16 in turn. */
class PodAddresses {
  #last = 0;

  /** Takes note of an address that a pod has, perhaps from an earlier process. */
  saw(address: string | undefined): void {
    const parts = /^10\.244\.(\d+)\.(\d+)$/.exec(address ?? "");
    if (parts !== null) this.#last = Math.max(this.#last, Number(parts[1]) * 256 + Number(parts[2]));
  }

  next(): string {
    this.#last = (this.#last % 0xfffe) + 1;
    return `10.244.${this.#last >> 8}.${this.#last & 0xff}`;
  }
}
