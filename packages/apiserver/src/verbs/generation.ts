/** Decides which changes of an object raise its generation. */
import { asInteger } from "../numbers.ts";
import type { KubeObject } from "../hooks.ts";
import type { Resource } from "../registry/resource.ts";
import { deepEquals } from "#platform/equality";

/** Returns the generation of a new object. */
export function firstGeneration({ traits }: Resource): number | undefined {
  return traits.generation === "none" || traits.generation === "later" ? undefined : 1;
}

/** Returns the generation after a change. */
export function nextGeneration(resource: Resource, next: KubeObject, live: KubeObject): number | undefined {
  const { generation } = live.metadata;
  switch (resource.traits.generation) {
    case "spec":
    case "asked":
    case "later":
      return isSameSpec(resource, next, live) ? generation : increment(generation);
    case "all":
      return isSameBeside(resource, next, live) ? generation : increment(generation);
    default:
      return generation;
  }
}

/** Adds one. A generation that a client once set may be beyond 2^53. */
function increment(generation: number | bigint = 0): number {
  return asInteger(BigInt.asIntN(64, BigInt(generation) + 1n)) as number;
}

function isSameSpec({ row }: Resource, next: KubeObject, live: KubeObject): boolean {
  if (!deepEquals(next["spec"], live["spec"])) return false;
  // The annotations of a Deployment are instructions for its controller.
  if (row.kind !== "Deployment" || row.group !== "apps") return true;
  return deepEquals(next.metadata.annotations ?? {}, live.metadata.annotations ?? {});
}

/** Compares everything but metadata. The status is left out when it is written separately. */
function isSameBeside({ row, hasStatus }: Resource, next: KubeObject, live: KubeObject): boolean {
  for (const name of new Set([...Object.keys(next), ...Object.keys(live)])) {
    if (name === "metadata" || name === "apiVersion" || name === "kind") continue;
    if (name === "status" && hasStatus) continue;
    if (!deepEquals(next[name], live[name])) return false;
  }
  return row.kind !== "EndpointSlice" || deepEquals(next.metadata.labels ?? {}, live.metadata.labels ?? {});
}
