/** Creates and deletes the pods of a workload, and records Events. */
import { type Client, isApiError, isConflict, isNotFound, type RunEvents } from "../../index.ts";
import { Pod, type PodInput, type PodTemplateSpec } from "../../resource/builtin/index.ts";
import { controlledBy, type Owner } from "./owner.ts";

/** The parts of a run that are needed to create pods. */
export interface PodRun {
  readonly client: Client;
  readonly events: RunEvents;
}

/** Makes a pod from the template; the owner controls it, and its name is generated from the owner's. */
export function podOf(template: PodTemplateSpec, owner: Owner): Omit<PodInput, "metadata"> & { metadata: PodMeta } {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { name, namespace } = owner.metadata;
  // A name of 253 characters leaves no room for the dash.
  const generateName = name.length < 253 ? `${name}-` : name;
  const metadata = { generateName, namespace, labels, annotations, finalizers, ownerReferences: [controlledBy(owner)] };
  return { metadata, spec: template.spec };
}

type PodMeta = Omit<PodInput["metadata"], "name"> & { readonly generateName: string };

/** Creates a pod. @throws the server's error; in a namespace that is being deleted it records no Event. */
export async function createPod(pod: PodInput | ReturnType<typeof podOf>, { client, events }: PodRun): Promise<Pod> {
  try {
    const created = await client.create(Pod, pod);
    events.normal("SuccessfulCreate", `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    if (!isNamespaceTerminating(error)) events.warning("FailedCreate", `Error creating: ${serverMessage(error)}`);
    throw error;
  }
}

/** Deletes a pod; succeeds when the pod is already gone. @throws other errors of the server */
export async function deletePod(pod: Pod, { client, events }: PodRun): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  try {
    await client.delete(Pod, { name, namespace }, { preconditions: { uid } });
    events.normal("SuccessfulDelete", `Deleted pod: ${name}`);
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return; // the pod is gone, and another one may have its name

    events.warning("FailedDelete", `Error deleting: ${serverMessage(error)}`);
    throw error;
  }
}

/** Whether the namespace is being deleted, in which every creation fails. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    isApiError(error) && error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true
  );
}

/** Returns the server's message, without the SDK's additions for people. */
export function serverMessage(error: unknown): string {
  if (isApiError(error)) return error.status.message ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
