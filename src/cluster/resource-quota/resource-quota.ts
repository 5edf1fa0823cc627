/** What a namespace uses of its quotas. The server books what is made; what goes is booked out here. */
import { allow, defineKeyController, type Definition, isConflict, type ObjectOf, watch } from "../../index.ts";
import { CustomResourceDefinition, Pod, ResourceQuota } from "../../resource/builtin/index.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { sameJson } from "../../resource/json.ts";
import { deletedIn } from "../garbage-collector/deletions.ts";
import type { ObjectFeed } from "../garbage-collector/object-feed.ts";
import { builtinKinds } from "../kinds/stored-kinds.ts";
import { isFinished } from "../workload/pod-state.ts";
import { usedOf } from "./used.ts";

interface QuotaOptions {
  readonly clock?: Clock | undefined;
  /** Tells of all objects. @default none: only pods are seen to go at once */
  readonly objects?: ObjectFeed | undefined;
}

/** Keeps the status of quotas. @see https://kubernetes.io/docs/concepts/policy/resource-quotas/ */
export function resourceQuotaController({ clock = systemClock, objects }: QuotaOptions = {}): Definition {
  const deleted = objects === undefined ? [] : [deletedIn(objects, (namespace) => ({ namespace, name: "" }))];
  return defineKeyController({
    name: "resourcequota-controller",
    watches: [
      watch(ResourceQuota, { enqueue: (quota) => [quota] }),
      watch(Pod, {
        on: ({ type, object, old }) =>
          type === "delete" || (old !== undefined && isFinished(object) !== isFinished(old)),
        enqueue: ({ metadata: { namespace } }, { client }) => client.list(ResourceQuota, { namespace }),
      }),
      ...deleted,
    ],
    reads: [CustomResourceDefinition],
    uses: [
      allow(ResourceQuota, "status/update"),
      ...builtinKinds.filter(({ isNamespaced }) => isNamespaced).map(({ handle }) => allow(handle, "list")),
    ],
    async reconcile({ namespace = "", name }, { client }) {
      // A namespace in which something went, whatever its quotas are called.
      const quotas =
        name === ""
          ? await client.list(ResourceQuota, { namespace })
          : [await client.find(ResourceQuota, { namespace, name })];
      for (const quota of quotas) {
        if (quota === undefined) continue;
        const status = { hard: quota.spec?.hard ?? {}, used: await usedOf(client, quota, clock.now()) };
        if (isCurrent(quota, status)) continue;
        const key = { namespace, name: quota.metadata.name };
        try {
          await client.subresource("status").update(ResourceQuota, key, { ...quota, status });
        } catch (error) {
          if (!isConflict(error)) throw error; // the server booked something, and its event comes
        }
      }
    },
  });
}

function isCurrent({ status }: ObjectOf<typeof ResourceQuota>, wanted: object): boolean {
  return sameJson({ hard: status?.hard, used: status?.used }, wanted);
}
