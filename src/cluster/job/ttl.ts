// Deletes Jobs some time after they have ended. This controller shows membership, and a run that only waits.
import { allow, defineController, type Definition, watch } from "../../index.ts";
import { Job } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { ending } from "./conditions.ts";

/** @see https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/ */
export function ttlAfterFinishedController(clock: Clock): Definition {
  return defineController({
    name: "ttl-after-finished-controller",
    for: watch(Job, { match: (job) => expiresAt(job) !== undefined }),
    uses: [allow(Job, "delete")],
    async reconcile(job, { client }) {
      const left = (at: number | undefined) => (at === undefined ? Infinity : at - clock.now());
      const wait = left(expiresAt(job));
      if (wait > 0) return { requeueAfter: wait };
      const { name, namespace, uid } = job.metadata;
      // A deletion is final, so the Job is read from the server once more.
      const fresh = await client.live.find(Job, { name, namespace });
      if (fresh === undefined || left(expiresAt(fresh)) > 0) return undefined;
      await client.delete(Job, { name, namespace }, { propagation: "Foreground", preconditions: { uid } });
      return undefined;
    },
  });
}

/**
 * The time at which the Job expires, in milliseconds since the epoch; `undefined` for one that has not ended or may
 * stay.
 */
function expiresAt(job: Job): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  const ended = ending(job)?.lastTransitionTime;
  return seconds === undefined || ended === undefined ? undefined : Date.parse(ended) + seconds * 1000;
}
