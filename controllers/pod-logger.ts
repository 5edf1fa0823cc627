// The classic first controller: the pods of one namespace go through a queue, and each sync is printed. A key that fails
// more than five times in a row is parked: visible in the log, the metrics and an Event, until its pod changes.
import { defineController, watch } from "binnacle";
import { Pod } from "binnacle/resources";

export const podLogger = defineController({
  name: "pod-logger",
  for: watch(Pod, { namespaces: ["default"] }),
  retry: { limit: 5 },
  async reconcile(pod, { attempt, log }) {
    if (pod.metadata.annotations?.["pod-logger/fail"] === "true") {
      throw new Error(`Pod ${pod.metadata.name} asks to fail`);
    }
    log.info(`Sync of pod ${pod.metadata.name}`, {
      phase: pod.status?.phase ?? "Unknown",
      node: pod.spec.nodeName,
      attempt,
    });
  },
});
