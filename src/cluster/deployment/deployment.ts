/**
 * Rolls out pod templates of Deployments, each template as a ReplicaSet.
 *
 * This controller shows the classic design: three informers (Deployments, ReplicaSets, Pods) feed one queue of
 * Deployments, owners are resolved by UID, and ReplicaSets are adopted when they match and released when they do not
 * match any more. Each run looks at the present state and takes one step.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
 */
import { allow, type Client, defineController, type Definition, isNotFound, type Key, watch } from "../../index.ts";
import { Deployment, Pod, ReplicaSet } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { OwnedKind } from "../workload/owned-kind.ts";
import { byAge, byController, controllerOf, selectedBy } from "../workload/owner.ts";
import { conditionOf, hasDeadline, withCondition } from "./conditions.ts";
import { create, sorted, syncRevision } from "./current.ts";
import { recreate, roll } from "./strategies.ts";
import { DeploymentRun, type ReplicaSets, sizeOf } from "./run.ts";
import { revisionOf } from "./annotations.ts";
import { isScaled, scaleInProportion } from "./scale.ts";
import { deadlineIn, isComplete, rolloutStatus, statusOf, syncStatus } from "./status.ts";

const owned = new OwnedKind({
  owner: Deployment,
  kind: ReplicaSet,
  selects: ({ spec }) => selectedBy(spec.selector),
});

export function deploymentController(clock: Clock): Definition {
  return defineController({
    name: "deployment",
    concurrency: 16,
    for: Deployment,
    // Each write of a step starts the next step.
    watches: [
      watch(ReplicaSet, { enqueue: (set, { client }) => deploymentsOf(set, client) }),
      // The strategy Recreate waits until the last pod is gone; the status of a ReplicaSet shows everything else about
      // its pods.
      watch(Pod, {
        on: ({ type }) => type === "delete",
        enqueue: async (pod, { client }) => {
          const owner = controllerOf(pod);
          const { namespace } = pod.metadata;
          if (owner?.kind !== ReplicaSet.kind) return [];
          const set = await client.find(ReplicaSet, { namespace, name: owner.name });
          return set?.metadata.uid === owner.uid ? deploymentsOf(set, client) : [];
        },
      }),
    ],
    uses: [allow(Deployment, "status/update"), allow(ReplicaSet, "create", "update", "patch", "delete")],
    async reconcile(deployment, { client, events }) {
      const run = new DeploymentRun(deployment, { client, events, now: clock.now() });
      const sets = sorted(run, await owned.claim(deployment, client));
      await syncPaused(run);
      if (deployment.spec.paused === true) {
        const scaled = await scaleInProportion(run, await syncRevision(run, sets));
        await cleanUp(run, scaled.old);
        await syncStatus(run, statusOf(run, scaled));
        return undefined;
      }
      if (isScaled(deployment, sets)) {
        const scaled = await scaleInProportion(run, await syncRevision(run, sets));
        await syncStatus(run, statusOf(run, scaled));
        return undefined;
      }
      const before = run.deployment;
      const rolled = await rollOut(run, sets);
      if (isComplete(before, before.status)) await cleanUp(run, rolled.old);
      await syncStatus(run, rolloutStatus(run, rolled));
      return { requeueAfter: deadlineIn(run) };
    },
  });
}

async function rollOut(run: DeploymentRun, sets: ReplicaSets): Promise<ReplicaSets> {
  if (run.deployment.spec.strategy?.type === "Recreate") {
    const lists = sets.old.map(({ metadata }) => run.client.list(Pod, { index: byController(Pod).is(metadata.uid) }));
    return recreate(run, sets, (await Promise.all(lists)).flat());
  }
  return roll(run, sets.current === undefined ? await create(run, sets) : await syncRevision(run, sets));
}

/** Returns the key of the Deployment that controls a ReplicaSet; for an orphan, the keys of those that may adopt it. */
async function deploymentsOf(set: ReplicaSet, client: Pick<Client, "list">): Promise<readonly (Key | Deployment)[]> {
  const owner = controllerOf(set);
  if (owner === undefined) return owned.adopters(set, client);
  return owner.kind === Deployment.kind ? [{ namespace: set.metadata.namespace, name: owner.name }] : [];
}

/** Reports the pause, so that a rollout does not count as stuck as soon as it is resumed. */
async function syncPaused(run: DeploymentRun): Promise<void> {
  const { deployment, now } = run;
  const { paused = false } = deployment.spec;
  const progressing = conditionOf(deployment.status?.conditions, "Progressing");
  if (!hasDeadline(deployment) || progressing?.reason === "ProgressDeadlineExceeded") return;
  if (paused === (progressing?.reason === "DeploymentPaused")) return;
  const [reason, message] = paused
    ? ["DeploymentPaused", "Deployment is paused"]
    : ["DeploymentResumed", "Deployment is resumed"];
  const condition = { type: "Progressing", status: "Unknown", reason, message } as const;
  const conditions = withCondition(deployment.status?.conditions, condition, now);
  await run.write({ ...deployment, status: { ...deployment.status, conditions } });
}

/** Deletes the oldest revisions beyond `revisionHistoryLimit` that have no pods. */
async function cleanUp({ deployment, client }: DeploymentRun, old: readonly ReplicaSet[]): Promise<void> {
  const { revisionHistoryLimit } = deployment.spec;
  if (revisionHistoryLimit === undefined || revisionHistoryLimit === 0x7fffffff) return;
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const tooMany = alive.length - revisionHistoryLimit;
  if (tooMany <= 0) return;
  const inOrder = [...alive].sort((one, other) => Number(revisionOf(one) - revisionOf(other)) || byAge(one, other));
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
