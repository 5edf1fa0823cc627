/** Limits how many old ReplicaSets are kept for `rollout undo`. */
import { isNotFound } from "../../index.ts";
import { ReplicaSet } from "../../resource/builtin/index.ts";
import { revisionOf } from "./annotations.ts";
import { byAge, type DeploymentRun, type ReplicaSet_, sizeOf } from "./run.ts";

/** Deletes the oldest revisions beyond `revisionHistoryLimit` that have no pods. */
export async function cleanUp({ deployment, client }: DeploymentRun, old: readonly ReplicaSet_[]): Promise<void> {
  const { revisionHistoryLimit } = deployment.spec;
  if (revisionHistoryLimit === undefined || revisionHistoryLimit === 0x7fffffff) return;
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const tooMany = alive.length - revisionHistoryLimit;
  if (tooMany <= 0) return;
  const inOrder = [...alive].sort((one, other) => revisionOf(one) - revisionOf(other) || byAge(one, other));
  for (const set of inOrder.slice(0, tooMany)) {
    const { name, namespace, generation = 0 } = set.metadata;
    const { replicas = 0, observedGeneration = 0 } = set.status ?? {};
    if (replicas !== 0 || sizeOf(set) !== 0 || generation > observedGeneration) continue;
    try {
      await client.delete(ReplicaSet, { namespace, name });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
