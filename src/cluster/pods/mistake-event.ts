/** Reports a container that does not start because its script is invalid. */
import type { Client } from "../../index.ts";
import type { Pod } from "../../resource/builtin/index.ts";
import { recordWarning } from "../workload/core-event.ts";

/** The reason that the kubelet gives for mistakes in a pod's spec. */
export const MISTAKE = "CreateContainerConfigError";

/** Records the Event once, because `kubectl describe` shows no messages of containers. */
export async function reportMistake(client: Client, pod: Pod, change: { before: Pod; now: number }): Promise<void> {
  const message = mistakeOf(pod);
  if (message === undefined || message === mistakeOf(change.before)) return;
  const { namespace, name, uid } = pod.metadata;
  await recordWarning(client, {
    about: { apiVersion: "v1", kind: "Pod", name, namespace, uid },
    reason: "Failed",
    message: `Error: ${message}`,
    component: "kubelet",
    host: pod.spec.nodeName,
    now: change.now,
  });
}

function mistakeOf({ status = {} }: Pod): string | undefined {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return all.find(({ state }) => state?.waiting?.reason === MISTAKE)?.state?.waiting?.message;
}
