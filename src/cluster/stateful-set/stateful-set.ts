// Gives each pod of a StatefulSet a name, a place in the order, and storage that stays when the pod is deleted. This
// controller shows children whose names identify them, a history that is stored as objects, adoption, and waits for
// readiness.
import { allow, defineController, type Definition, watch } from "../../index.ts";
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { byRevision, truncateHistory } from "../revision/history.ts";
import { patchedTemplate } from "../revision/template-patch.ts";
import { OwnedKind } from "../workload/owned-kind.ts";
import { isOrphan, selectedBy } from "../workload/owner.ts";
import { nextAvailableIn } from "../workload/pod-state.ts";
import { runIn } from "../workload/time.ts";
import { isMemberOf, revisionOf, type Version } from "./identity.ts";
import { revisionsOf } from "./revisions.ts";
import { rollOut } from "./rollout.ts";
import { countPods, statusOf } from "./status.ts";

const ownedPods = new OwnedKind({
  owner: StatefulSet,
  kind: Pod,
  selects: (set) => {
    const isSelected = selectedBy(set.spec.selector);
    return (pod) => isMemberOf(set, pod) && isSelected(pod);
  },
});
const ownedRevisions = new OwnedKind({
  owner: StatefulSet,
  kind: ControllerRevision,
  selects: ({ spec }) => selectedBy(spec.selector),
});

/** How often a set checks a claim that is being deleted. */
const BLOCKED = "1s";

/** @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/ */
export function statefulSetController(clock: Clock): Definition {
  return defineController({
    name: "statefulset-controller",
    for: StatefulSet,
    owns: [Pod, ControllerRevision],
    reads: [Pod, ControllerRevision, PersistentVolumeClaim],
    watches: [watch(Pod, { match: isOrphan, enqueue: (pod, { client }) => ownedPods.adopters(pod, client) })],
    uses: [
      allow(Pod, "create", "update", "patch", "delete"),
      allow(PersistentVolumeClaim, "create", "update"),
      allow(ControllerRevision, "create", "update", "patch", "delete"),
    ],
    async reconcile(set, { client, events, status }) {
      const history = (await ownedRevisions.claim(set, client)).sort(byRevision);
      const members = await ownedPods.claim(set, client);
      const revisions = await revisionsOf(set, history, client);
      const now = clock.now();
      const run = { client, events };
      const { pods, outdated, isBlocked } = await rollOut(set, members, {
        run,
        now,
        current: versionOf(revisions.current),
        update: versionOf(revisions.update),
      });
      const { minReadySeconds } = set.spec;
      const counts = countPods(pods, revisions, { minReadySeconds, now });
      const next = statusOf(set, revisions, { ...counts, currentReplicas: counts.currentReplicas - outdated });
      status.set(next);
      await status.flush();
      // It uses the new status, because a rollout that has just ended does not use its old revision any more and
      // causes no other run.
      const used = [next.currentRevision, next.updateRevision, ...pods.map(revisionOf)];
      await truncateHistory(client, unusedOf(history, used), set.spec.revisionHistoryLimit ?? 10);
      if (isBlocked) return { requeueAfter: BLOCKED };
      return runIn(nextAvailableIn(pods, { minReadySeconds, now }));
    },
  });
}

function versionOf({ metadata: { name }, data }: ControllerRevision): Version {
  return { name, template: patchedTemplate(data) };
}

/** Returns the revisions that neither the set nor a pod uses, oldest first. */
function unusedOf(history: readonly ControllerRevision[], used: readonly (string | undefined)[]): ControllerRevision[] {
  return history.filter(({ metadata }) => !used.includes(metadata.name));
}
