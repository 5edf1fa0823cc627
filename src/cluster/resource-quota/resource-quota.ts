/** Computes what a namespace uses of its quotas. The server adds what is created; this controller subtracts what is deleted. */
import {
  allow,
  changed,
  type Client,
  defineKeyController,
  type Definition,
  isConflict,
  isNotFound,
  type ObjectOf,
  watch,
} from "../../index.ts";
import { CustomResourceDefinition, Pod, ResourceQuota } from "../../resource/builtin/index.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { sameJson } from "../../resource/json.ts";
import { namespacesOf } from "../garbage-collector/namespaces-of.ts";
import type { ObjectFeed } from "../garbage-collector/object-feed.ts";
import { builtinKinds } from "../kinds/stored-kinds.ts";
import { isFinished } from "../workload/pod-state.ts";
import { usedOf } from "./used.ts";

type Quota = ObjectOf<typeof ResourceQuota>;

interface QuotaOptions {
  readonly clock?: Clock | undefined;
  /** Reports all objects. @default none: only the deletion of pods is noticed at once */
  readonly objects?: ObjectFeed | undefined;
}

/** Keeps the status of quotas. @see https://kubernetes.io/docs/concepts/policy/resource-quotas/ */
export function resourceQuotaController({ clock = systemClock, objects }: QuotaOptions = {}): Definition {
  const all = (namespace: string) => ({ namespace, name: "" });
  const happens = objects === undefined ? [] : [namespacesOf(objects, { types: ["ADDED", "DELETED"], keyOf: all })];
  return defineKeyController({
    name: "resourcequota-controller",
    watches: [
      // The status is ignored, because the server writes into it what it is about to store.
      watch(ResourceQuota, { on: changed.spec, enqueue: (quota) => [quota] }),
      watch(Pod, {
        on: ({ object, old }) => old === undefined || isFinished(object) !== isFinished(old),
        enqueue: ({ metadata: { namespace } }, { client }) => client.list(ResourceQuota, { namespace }),
      }),
      ...happens,
    ],
    reads: [CustomResourceDefinition],
    uses: [
      allow(ResourceQuota, "status/update"),
      ...builtinKinds.filter(({ isNamespaced }) => isNamespaced).map(({ handle }) => allow(handle, "list")),
    ],
    async reconcile({ namespace = "", name }, { client }) {
      // The key is a namespace in which objects changed, whatever its quotas are called.
      const quotas =
        name === ""
          ? await client.list(ResourceQuota, { namespace })
          : [await client.find(ResourceQuota, { namespace, name })];
      for (const quota of quotas) if (quota !== undefined) await recount(client, quota, clock);
    },
  });
}

const ATTEMPTS = 5;

async function recount(client: Client, known: Quota, clock: Clock): Promise<void> {
  const { namespace, name } = known.metadata;
  let quota: Quota | undefined = known;
  for (let attempt = 1; quota !== undefined; attempt++) {
    const status = { hard: quota.spec?.hard ?? {}, used: await usedOf(client, quota, clock.now()) };
    if (isCurrent(quota, status)) return;
    try {
      await client.subresource("status").update(ResourceQuota, { namespace, name }, { ...quota, status });
      return;
    } catch (error) {
      // The server has updated the quota meanwhile, or it is gone.
      if (!(isConflict(error) || isNotFound(error)) || attempt === ATTEMPTS) throw error;
      quota = await client.live.find(ResourceQuota, { namespace, name });
    }
  }
}

function isCurrent({ status }: Quota, wanted: object): boolean {
  return sameJson({ hard: status?.hard, used: status?.used }, wanted);
}
