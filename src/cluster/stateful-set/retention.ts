/**
 * Decides who owns the claims of a pod, so that the garbage collector deletes them with the pod, with the set, or
 * never.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
 */
import type { OwnerReference } from "../../index.ts";
import type { PersistentVolumeClaim, StatefulSet } from "../../resource/builtin/index.ts";
import { controlledBy, type Owner } from "../workload/owner.ts";
import { isWanted, ordinalOf } from "./identity.ts";

type References = readonly OwnerReference[];

export function keepsClaims({ spec }: StatefulSet, when: "whenDeleted" | "whenScaled"): boolean {
  return spec.persistentVolumeClaimRetentionPolicy?.[when] !== "Delete";
}

/** Whether a reference names the object, with any UID. */
function names(reference: OwnerReference, { apiVersion, kind, metadata }: Owner): boolean {
  return reference.apiVersion === apiVersion && reference.kind === kind && reference.name === metadata.name;
}

function has(references: References, { metadata: { uid } }: Owner): boolean {
  return references.some((reference) => reference.uid === uid);
}

/** Whether the claim belongs to an earlier object with that name and is deleted with it. */
export function isStale(references: References, owner: Owner): boolean {
  return references.some((reference) => names(reference, owner) && reference.uid !== owner.metadata.uid);
}

/** Whether another object controls the claim, so that the policy cannot be applied. */
export function hasOtherController(references: References, set: StatefulSet, pod: Owner): boolean {
  if (keepsClaims(set, "whenDeleted") && keepsClaims(set, "whenScaled")) return false;
  return references.some((reference) => {
    for (const own of [set, pod]) if (names(reference, own)) return reference.uid !== own.metadata.uid;
    return reference.controller === true;
  });
}

/** Returns the owners that the claims should have: the set, the pod, both or neither. */
function wantedOwners(set: StatefulSet, pod: Owner): Owner[] {
  const scaledDown = !isWanted(set, ordinalOf(pod));
  const owners: Owner[] = [];
  const goesWithPod = !keepsClaims(set, "whenScaled") && scaledDown;
  if (!keepsClaims(set, "whenDeleted") && !goesWithPod) owners.push(set);
  if (goesWithPod) owners.push(pod);
  return owners;
}

/** Whether the claim has the owners of the policy, or has others that must not be changed. */
export function isRetained({ metadata }: PersistentVolumeClaim, set: StatefulSet, pod: Owner): boolean {
  const references = metadata.ownerReferences ?? [];
  if (isStale(references, set) || isStale(references, pod)) return true;
  if (hasOtherController(references, set, pod)) return !has(references, set) && !has(references, pod);
  const ours = references.filter(({ uid }) => uid === set.metadata.uid || uid === pod.metadata.uid);
  if (ours.some(({ controller }) => controller !== true)) return false;
  const wanted = wantedOwners(set, pod);
  return [set, pod].every((owner) => wanted.includes(owner) === has(references, owner));
}

/** Returns the claim's owners as the policy says. */
export function retainedBy({ metadata }: PersistentVolumeClaim, set: StatefulSet, pod: Owner): OwnerReference[] {
  const references = metadata.ownerReferences ?? [];
  const others = references.filter((reference) => !names(reference, set) && !names(reference, pod));
  if (hasOtherController(references, set, pod)) return others;
  return [...others, ...wantedOwners(set, pod).map(controlledBy)];
}
