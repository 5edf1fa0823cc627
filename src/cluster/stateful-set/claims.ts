/** Creates the claims of a stateful set's pods, and maintains their owners as the retention policy says. */
import { type Client, isAlreadyExists, type RunEvents } from "../../index.ts";
import { PersistentVolumeClaim, type StatefulSet } from "../../resource/builtin/index.ts";
import type { Owner } from "../workload/owner.ts";
import { serverMessage } from "../workload/pod-control.ts";
import { ordinalOf } from "./identity.ts";
import { hasOtherController, isRetained, isStale, keepsClaims, retainedBy } from "./retention.ts";
import { claimsFor } from "./volumes.ts";

/** The means of a run of a stateful set. */
export interface SetRun {
  readonly client: Client;
  readonly events: RunEvents;
}

/** An existing pod, or one that has only a name yet. */
export type Named = Owner & { readonly metadata: { readonly uid: string } };

/** Creates the missing claims. @throws when one cannot be created. */
export async function createClaims(set: StatefulSet, podName: string, { client, events }: SetRun): Promise<void> {
  const failed: string[] = [];
  for (const claim of claimsFor(set, ordinalOf({ metadata: { name: podName } }))) {
    const { name, namespace = "" } = claim.metadata;
    const present = await client.find(PersistentVolumeClaim, { name, namespace });
    if (present?.metadata.deletionTimestamp !== undefined) failed.push(`pvc ${name} is being deleted`);
    if (present !== undefined) continue;
    const subject = `Claim ${name}`;
    try {
      await client.create(PersistentVolumeClaim, claim);
      const message = `Create ${subject} Pod ${podName} in StatefulSet ${set.metadata.name} success`;
      events.normal("SuccessfulCreate", message);
    } catch (error) {
      const reason = serverMessage(error);
      failed.push(`failed to create PVC ${name}: ${reason}`);
      if (isAlreadyExists(error)) continue;
      const message = `Create ${subject} for Pod ${podName} in StatefulSet ${set.metadata.name} failed error: ${reason}`;
      events.warning("FailedCreate", message);
    }
  }
  if (failed.length > 0) throw new Error(failed.length === 1 ? failed[0] : `[${failed.join(", ")}]`);
}

/** Returns the existing claims of a pod. */
async function claimsOf(set: StatefulSet, pod: Named, client: Client): Promise<PersistentVolumeClaim[]> {
  const claims: PersistentVolumeClaim[] = [];
  for (const { metadata } of claimsFor(set, ordinalOf(pod))) {
    const { name, namespace = "" } = metadata;
    const claim = await client.find(PersistentVolumeClaim, { name, namespace });
    if (claim !== undefined) claims.push(claim);
  }
  return claims;
}

/** Whether the claims have the owners that the retention policy says. */
export async function areRetained(set: StatefulSet, pod: Named, { client }: SetRun): Promise<boolean> {
  return (await claimsOf(set, pod, client)).every((claim) => isRetained(claim, set, pod));
}

/** Gives the pod's claims the owners of the retention policy. */
export async function retainClaims(set: StatefulSet, pod: Named, { client, events }: SetRun): Promise<void> {
  for (const claim of await claimsOf(set, pod, client)) {
    const { name, namespace, ownerReferences = [] } = claim.metadata;
    if (hasOtherController(ownerReferences, set, pod)) {
      const what = "has a conflicting OwnerReference that acts as a manging controller";
      const message = `PersistentVolumeClaim ${name} ${what}, the retention policy is ignored for this claim`;
      events.warning("ConflictingController", message);
    }
    if (isRetained(claim, set, pod)) continue;
    await client.edit(PersistentVolumeClaim, { name, namespace }, (draft) => {
      draft.metadata.ownerReferences = retainedBy(claim, set, pod);
    });
  }
}

/** Whether a claim still belongs to a pod that was scaled away; the new pod waits until the claim is deleted. */
export async function hasStaleClaim(set: StatefulSet, podName: string, { client }: SetRun): Promise<boolean> {
  if (keepsClaims(set, "whenScaled")) return false;
  const pod: Named = { apiVersion: "v1", kind: "Pod", metadata: { name: podName, uid: "" } };
  const claims = await claimsOf(set, pod, client);
  return claims.some(({ metadata }) => isStale(metadata.ownerReferences ?? [], pod));
}
