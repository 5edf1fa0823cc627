/** Sums up what the objects of a namespace use of a quota, by the rules of the server's admission. */
import type { Client, ObjectOf } from "../../index.ts";
import type { ResourceQuota } from "../../resource/builtin/index.ts";
import type { KubeObject } from "binnacle-apiserver";
import { requirementsOf } from "binnacle-apiserver";
import { evaluatorOf } from "binnacle-apiserver";
import { add, listFields, masked, type ResourceList, zero } from "binnacle-apiserver";
import { builtinKinds, customKinds } from "../kinds/stored-kinds.ts";

type Quota = ObjectOf<typeof ResourceQuota>;

/** Returns the usage by the quota's resource names; a name that nothing computes keeps its value. @param now in milliseconds */
export async function usedOf(
  client: Client,
  quota: Quota,
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
