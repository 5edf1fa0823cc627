/** Computes the usage of quotas. The server adds what is created; this controller subtracts what is deleted. */
import {
  type KubeObject,
  requirementsOf,
  evaluatorOf,
  add,
  listFields,
  masked,
  type ResourceList,
  zero,
} from "binnacle-apiserver";
import {
  allow,
  any,
  changed,
  type Client,
  defineKeyController,
  type Definition,
  isConflict,
  isNotFound,
  source,
  watch,
} from "../../index.ts";
import { CustomResourceDefinition, Pod, ResourceQuota, Service } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { sameJson } from "../../resource/json.ts";
import { namespacesOf, type ObjectFeed, type OwnedChange } from "../garbage-collector/object-feed.ts";
import { builtinKinds, customKinds } from "../kinds/stored-kinds.ts";
import { isFinished } from "../workload/pod-state.ts";

/**
 * Keeps the status of quotas.
 *
 * @param objects reports all objects; without it only the deletion of pods is noticed at once.
 * @see https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export function resourceQuotaController(clock: Clock, objects: ObjectFeed | undefined): Definition {
  const all = (namespace: string) => ({ namespace, name: "" });
  // A claim is counted by its class of attributes, too, which may change.
  const counts = ({ type, object }: OwnedChange) => type !== "MODIFIED" || object.kind === "PersistentVolumeClaim";
  const happens = objects === undefined ? [] : [namespacesOf(objects, { counts, keyOf: all })];
  return defineKeyController({
    name: "resourcequota-controller",
    watches: [
      // A change of `status.used` is ignored: the server itself writes there, before it stores an object.
      watch(ResourceQuota, {
        on: any(changed.spec, ({ object }: { object: ResourceQuota }) => !isCopied(object)),
        enqueue: (quota) => [quota],
      }),
      watch(Pod, {
        on: ({ object, old }) => old === undefined || !countsAsBefore(object, old),
        enqueue: ({ metadata: { namespace } }, { client }) => client.list(ResourceQuota, { namespace }),
      }),
      watch(Service, {
        on: ({ object, old }) => old !== undefined && object.spec?.type !== old.spec?.type,
        enqueue: ({ metadata: { namespace } }, { client }) => client.list(ResourceQuota, { namespace }),
      }),
      ...happens,
      source.every(RESYNC),
    ],
    reads: [CustomResourceDefinition],
    uses: [
      allow(ResourceQuota, "status/update"),
      ...builtinKinds.filter(({ isNamespaced }) => isNamespaced).map(({ handle }) => allow(handle, "list")),
    ],
    async reconcile({ namespace, name }, { client }) {
      // The key is a namespace in which objects changed, whatever its quotas are called; or all of them, at intervals.
      const quotas =
        name === "" || namespace === undefined
          ? await client.list(ResourceQuota, { namespace })
          : [await client.find(ResourceQuota, { namespace, name })];
      for (const quota of quotas) if (quota !== undefined) await recount(client, quota, clock);
    },
  });
}

/** Whether a pod is in the same scopes as before, and uses as much. */
function countsAsBefore(pod: Pod, old: Pod): boolean {
  const parts = (one: Pod): readonly unknown[] => [
    isFinished(one),
    one.spec?.activeDeadlineSeconds === undefined,
    ...[...(one.status?.initContainerStatuses ?? []), ...(one.status?.containerStatuses ?? [])].map(
      ({ resources }) => resources ?? null,
    ),
  ];
  return sameJson(parts(pod), parts(old));
}

const ATTEMPTS = 5;

/** Milliseconds after which a status that somebody else has changed is put right. */
const RESYNC = "5m";

/** Whether the status has the limits of the spec, from which admission reads them. */
function isCopied({ spec, status }: ResourceQuota): boolean {
  return sameJson(spec?.hard ?? {}, status?.hard ?? {});
}

async function recount(client: Client, known: ResourceQuota, clock: Clock): Promise<void> {
  const { namespace, name } = known.metadata;
  let quota: ResourceQuota | undefined = known;
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

function isCurrent({ status }: ResourceQuota, wanted: object): boolean {
  return sameJson({ hard: status?.hard, used: status?.used }, wanted);
}

/** Returns the usage by resource; a resource that no rule computes keeps its value. @param now in milliseconds */
async function usedOf(
  client: Client,
  quota: ResourceQuota,
  now: number,
): Promise<Readonly<Record<string, string | number>>> {
  const { namespace } = quota.metadata;
  const names = Object.keys(quota.spec?.hard ?? {});
  const requirements = requirementsOf(quota as unknown as KubeObject);
  const used: ResourceList = new Map();
  const custom = names.some((name) => name.startsWith("count/")) ? await customKinds(client) : [];
  for (const { handle, plural, isNamespaced } of [...builtinKinds, ...custom]) {
    const evaluator = evaluatorOf({ group: handle.group, plural });
    const counted = names.filter((name) => evaluator.counts(name));
    if (!isNamespaced || counted.length === 0) continue;
    add(used, new Map(counted.map((name) => [name, zero])));
    for (const object of (await client.list(handle, { namespace })) as unknown as readonly KubeObject[]) {
      const isMeant = requirements.every((requirement) => evaluator.matches?.(requirement, object) ?? false);
      if (isMeant) add(used, masked(evaluator.usage(object, now), counted));
    }
  }
  const before = Object.entries(quota.status?.used ?? {}).filter(([name]) => names.includes(name));
  return { ...Object.fromEntries(before), ...(listFields(used) as Record<string, string>) };
}
