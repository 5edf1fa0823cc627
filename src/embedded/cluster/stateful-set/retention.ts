/**
 * Who owns the claims of a pod, so that the garbage collector removes them with the pod, with the set, or never.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
 */
import type { OwnerReference } from "../../../index.ts";
import type { PersistentVolumeClaim, StatefulSet } from "../../../resource/builtin/index.ts";
import { controlledBy, type Owner } from "../workload/owner.ts";
import { isWanted, ordinalOf } from "./identity.ts";

type References = readonly OwnerReference[];

export function keepsClaims({ spec }: StatefulSet, when: "whenDeleted" | "whenScaled"): boolean {
  return spec.persistentVolumeClaimRetentionPolicy?.[when] !== "Delete";
}

/** Whether a reference names an object, of whatever UID. */
function names(reference: OwnerReference, { apiVersion, kind, metadata }: Owner): boolean {
  return reference.apiVersion === apiVersion && reference.kind === kind && reference.name === metadata.name;
}

function has(references: References, { metadata: { uid } }: Owner): boolean {
  return references.some((reference) => reference.uid === uid);
}

/** Whether the claim belongs to an earlier object of the name, and goes with it. */
export function isStale(references: References, owner: Owner): boolean {
  return references.some((reference) => names(reference, owner) && reference.uid !== owner.metadata.uid);
}

/** Whether someone else controls the claim, so that the policy cannot hold. */
export function hasOtherController(references: References, set: StatefulSet, pod: Owner): boolean {
  if (keepsClaims(set, "whenDeleted") && keepsClaims(set, "whenScaled")) return false;
  return references.some((reference) => {
    for (const own of [set, pod]) if (names(reference, own)) return reference.uid !== own.metadata.uid;
    return reference.controller === true;
  });
}

/** Which of the two should own the claims. */
function wantedOwners(set: StatefulSet, pod: Owner): Owner[] {
  const scaledDown = !isWanted(set, ordinalOf(pod));
  const owners: Owner[] = [];
  const goesWithPod = !keepsClaims(set, "whenScaled") && scaledDown;
  if (!keepsClaims(set, "whenDeleted") && !goesWithPod) owners.push(set);
  if (goesWithPod) owners.push(pod);
  return owners;
}

/** Whether the claim's owners are what the policy says, or not ours to change. */
export function isRetained({ metadata }: PersistentVolumeClaim, set: StatefulSet, pod: Owner): boolean {
  const references = metadata.ownerReferences ?? [];
  if (isStale(references, set) || isStale(references, pod)) return true;
  if (hasOtherController(references, set, pod)) return !has(references, set) && !has(references, pod);
  const ours = references.filter(({ uid }) => uid === set.metadata.uid || uid === pod.metadata.uid);
  if (ours.some(({ controller }) => controller !== true)) return false;
  const wanted = wantedOwners(set, pod);
  return [set, pod].every((owner) => wanted.includes(owner) === has(references, owner));
}

/** The claim's owners as the policy says. */
export function retainedBy({ metadata }: PersistentVolumeClaim, set: StatefulSet, pod: Owner): OwnerReference[] {
  const references = metadata.ownerReferences ?? [];
  const others = references.filter((reference) => !names(reference, set) && !names(reference, pod));
  if (hasOtherController(references, set, pod)) return others;
  return [...others, ...wantedOwners(set, pod).map(controlledBy)];
}
