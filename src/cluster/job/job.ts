// Runs pods until enough of them have succeeded. This controller shows results that finalizers on children make count
// exactly once, conditions that announce an end before it is reached, and waits on an injected clock.
import { allow, defineController, type Definition, defineKeyController, type RunEvents, watch } from "../../index.ts";
import { Job, Pod } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { OwnedKind } from "../workload/owned-kind.ts";
import { controllerOf, isOrphan, selectedBy } from "../workload/owner.ts";
import { Remembered } from "../workload/remembered.ts";
import type { Failures } from "./back-off.ts";
import { ending } from "./conditions.ts";
import { isTracked, TRACKING_FINALIZER } from "./job-pods.ts";
import { JobRun, type JobTools } from "./job-run.ts";
import { untrack } from "./pods.ts";
import { syncJob } from "./sync.ts";

const MANAGER = "kubernetes.io/job-controller";

const ownedPods = new OwnedKind({
  owner: Job,
  kind: Pod,
  selects: ({ spec }) => selectedBy(spec.selector),
  finalizer: TRACKING_FINALIZER,
});

/** No Events are recorded for a Job that is being deleted. */
const SILENT: RunEvents = { normal: () => {}, warning: () => {} };

/**
 * Returns three controllers: of Jobs, of Jobs that are being deleted, and of pods whose Job is gone.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/
 */
export function jobControllers(clock: Clock): readonly Definition[] {
  const tools: JobTools = { now: () => clock.now(), failures: new Remembered<Failures>() };
  return [jobController(tools), deletedJobController(tools), orphanController()];
}

function isOurs({ spec }: Job): boolean {
  return (spec.managedBy ?? MANAGER) === MANAGER;
}

function jobController(tools: JobTools): Definition {
  return defineController({
    name: "job-controller",
    for: watch(Job, { match: isOurs }),
    owns: [Pod],
    reads: [Pod],
    watches: [watch(Pod, { match: isOrphan, enqueue: (pod, { client }) => ownedPods.adopters(pod, client) })],
    uses: [allow(Pod, "create", "patch", "delete"), allow(Job, "status/update")],
    async reconcile(job, { client, events }) {
      if (ending(job) !== undefined) {
        tools.failures.delete(job.metadata.uid);
        return undefined;
      }
      return syncJob(new JobRun({ ...tools, client, events, job, pods: await ownedPods.claim(job, client) }));
    },
  });
}

/** Counts and releases the pods of a Job that is being deleted. */
function deletedJobController(tools: JobTools): Definition {
  const isDeleting = ({ metadata }: Job) => metadata.deletionTimestamp !== undefined;
  return defineKeyController({
    name: "deleted-job-controller",
    reads: [Pod],
    watches: [
      watch(Job, { match: isOurs, enqueue: (job) => (isDeleting(job) ? [job.metadata] : []) }),
      watch(Pod, { match: isTracked, enqueue: (pod) => keyOfJob(pod) }),
    ],
    uses: [allow(Pod, "patch"), allow(Job, "status/update")],
    async reconcile({ name, namespace = "" }, { client }) {
      const job = await client.find(Job, { name, namespace });
      if (job === undefined || !isDeleting(job) || !isOurs(job) || ending(job) !== undefined) return undefined;
      tools.failures.delete(job.metadata.uid);
      return syncJob(new JobRun({ ...tools, client, events: SILENT, job, pods: await ownedPods.claim(job, client) }));
    },
  });
}

/** Releases pods that no controller will count any more. */
function orphanController(): Definition {
  return defineKeyController({
    name: "orphaned-job-pod-controller",
    reads: [Job],
    watches: [
      watch(Pod, { match: isTracked, enqueue: (pod) => [pod.metadata] }),
      watch(Job, {
        enqueue: async (job, { client }) => (await ownedPods.controlled(job, client)).filter(isTracked),
      }),
    ],
    uses: [allow(Pod, "patch")],
    async reconcile({ name, namespace = "" }, { client }) {
      const pod = await client.find(Pod, { name, namespace });
      if (pod === undefined || !isTracked(pod)) return;
      const controller = controllerOf(pod);
      if (controller !== undefined) {
        if (controller.kind !== Job.kind || controller.apiVersion !== Job.apiVersion) return;
        const job = await client.find(Job, { name: controller.name, namespace });
        const isThere = job?.metadata.uid === controller.uid;
        if (job !== undefined && isThere && (!isOurs(job) || ending(job) === undefined)) return;
      }
      await untrack({ client }, pod);
    },
  });
}

function keyOfJob(pod: Pod): readonly { name: string; namespace: string | undefined }[] {
  const controller = controllerOf(pod);
  if (controller?.kind !== Job.kind) return [];
  return [{ name: controller.name, namespace: pod.metadata.namespace }];
}
