/** Reports a container that does not start because its script cannot be understood. */
import type { Client } from "../../index.ts";
import { CoreEvent, type Pod } from "../../resource/builtin/index.ts";
import { timestamp } from "../workload/time.ts";

/** The reason that the kubelet gives for mistakes in a pod's spec. */
export const MISTAKE = "CreateContainerConfigError";

/** Records the Event once, because `kubectl describe` shows no messages of containers. */
export async function reportMistake(client: Client, pod: Pod, change: { before: Pod; now: number }): Promise<void> {
  const message = mistakeOf(pod);
  if (message === undefined || message === mistakeOf(change.before)) return;
  const { namespace, name, uid } = pod.metadata;
  const now = timestamp(change.now);
  await client
    .create(CoreEvent, {
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: { apiVersion: "v1", kind: "Pod", name, namespace, uid },
      type: "Warning",
      reason: "Failed",
      message: `Error: ${message}`,
      source: { component: "kubelet", host: pod.spec.nodeName },
      reportingComponent: "kubelet",
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    })
    .catch(() => {});
}

function mistakeOf({ status = {} }: Pod): string | undefined {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return all.find(({ state }) => state?.waiting?.reason === MISTAKE)?.state?.waiting?.message;
}
