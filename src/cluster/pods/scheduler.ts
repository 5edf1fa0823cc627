/** Stands in for the scheduler: binds each pod to the node with the fewest pods among those that it fits. */
import {
  allow,
  type Client,
  defineController,
  defineIndex,
  type Definition,
  isConflict,
  isNotFound,
} from "../../index.ts";
import { watch } from "../../index.ts";
import { Binding, Node, Pod } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { podCondition } from "../workload/pod-state.ts";
import { timestamp } from "../workload/time.ts";
import { unfit } from "./node-fit.ts";

const byNode = defineIndex(Pod, "nodeName", ({ spec }) => spec.nodeName ?? WAITING);
const WAITING = "";

/** Binds pods to nodes. */
export function scheduler(clock: Clock): Definition {
  return defineController({
    name: "scheduler",
    concurrency: 16,
    for: watch(Pod, { match: waits }),
    watches: [
      watch(Node, {
        enqueue: async (_, { client }) => (await client.list(Pod, { index: byNode.is(WAITING) })).filter(waits),
      }),
    ],
    uses: [allow(Pod, "binding/create", "status/patch")],
    async reconcile(pod, { client, events }) {
      const { name, namespace } = pod.metadata;
      const nodes = await client.list(Node, { sort: byName });
      const fit = nodes.filter((node) => unfit(pod, node) === undefined);
      const node = await emptiest(client, fit);
      if (node === undefined) {
        const message = unschedulable(pod, nodes);
        const known = podCondition(pod, "PodScheduled")?.message === message;
        if (!known) events.warning("FailedScheduling", message);
        if (!known) await client.subresource("status").patch(Pod, { namespace, name }, condition(message, clock.now()));
        return;
      }
      const target = { apiVersion: "v1", kind: "Node", name: node };
      try {
        const { apiVersion, kind } = Binding;
        const body = { apiVersion, kind, metadata: { namespace, name }, target };
        await client.subresource("binding").create(Pod, { namespace, name }, body);
        events.normal("Scheduled", `Successfully assigned ${namespace}/${name} to ${node}`);
      } catch (error) {
        // The pod is gone, or another scheduler has bound it.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    },
  });
}

/** Whether this scheduler has to place the pod. */
function waits({ spec }: Pod): boolean {
  const { nodeName, schedulingGates = [], schedulerName = "default-scheduler" } = spec;
  return nodeName === undefined && schedulingGates.length === 0 && schedulerName === "default-scheduler";
}

async function emptiest(client: Client, nodes: readonly Node[]): Promise<string | undefined> {
  if (nodes.length < 2) return nodes[0]?.metadata.name;
  let best: { readonly name: string; readonly pods: number } | undefined;
  for (const { metadata } of nodes) {
    const pods = (await client.list(Pod, { index: byNode.is(metadata.name) })).length;
    if (best === undefined || pods < best.pods) best = { name: metadata.name, pods };
  }
  return best?.name;
}

function unschedulable(pod: Pod, nodes: readonly Node[]): string {
  if (nodes.length === 0) return "no nodes available to schedule pods";
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const why = unfit(pod, node) ?? "";
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const reasons = [...counts].map(([why, count]) => `${count} ${why}`).sort();
  return `0/${nodes.length} nodes are available: ${reasons.join(", ")}.`;
}

function condition(message: string, now: number): { type: "strategic"; body: object } {
  const lastTransitionTime = timestamp(now);
  const scheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
  return { type: "strategic", body: { status: { conditions: [scheduled] } } };
}

function byName(one: Node, other: Node): number {
  return one.metadata.name < other.metadata.name ? -1 : 1;
}
