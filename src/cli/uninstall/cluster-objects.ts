/** Reads and deletes the objects of the cluster for `uninstall`. */
import { isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { sleep } from "../../platform/clock.ts";

/** The fields of a response that all kinds have. */
export interface ClusterObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** An object to delete. */
export interface DeletionTarget {
  readonly path: string;
  /** The object's description in messages, such as `Deployment binnacle-system/binnacle`. */
  readonly what: string;
  readonly uid: string;
}

export const MANAGED_BY = "app.kubernetes.io/managed-by";
/** The value of the label {@link MANAGED_BY} on the objects of `manifests deploy`. */
export const OURS = "binnacle";
const ASK_EVERY = 100;

export async function find<T extends ClusterObject>(transport: Transport, path: string): Promise<T | undefined> {
  try {
    return await transport.request<T>({ method: "GET", path });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns all objects of a collection, which is small; none when the kind does not exist. */
export async function list<T extends ClusterObject>(
  transport: Transport,
  path: string,
  query = "",
): Promise<readonly T[]> {
  try {
    return (await transport.request<{ items: readonly T[] }>({ method: "GET", path, query })).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

interface Identified {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly uid: string };
}

export function deletionTarget(path: string, kind: string, { metadata }: Identified): DeletionTarget {
  const { name, namespace, uid } = metadata;
  return { path, what: `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`, uid };
}

/** Deletes an object. Another object that has the same name by now stays. */
export async function remove(transport: Transport, { path, uid }: DeletionTarget): Promise<void> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", preconditions: { uid } };
  await transport.request({ method: "DELETE", path, body }).catch(unlessGone);
}

/** Changes an object by a merge patch with its UID. Another object that has the same name by now stays as it is. */
export async function change(transport: Transport, { path, uid }: DeletionTarget, patch: ObjectPatch): Promise<void> {
  const body = { ...patch, metadata: { uid, ...patch.metadata } };
  await transport
    .request({ method: "PATCH", path, contentType: "application/merge-patch+json", body })
    .catch(unlessGone);
}

interface ObjectPatch {
  readonly metadata?: { readonly annotations: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

export interface Patience {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Polls until a condition holds. @returns false when it did not within the timeout. @throws the signal's reason. */
export async function becomes(look: () => Promise<boolean>, { signal, timeout }: Patience): Promise<boolean> {
  for (const deadline = performance.now() + timeout; ; await sleep(ASK_EVERY, { signal })) {
    signal.throwIfAborted();
    if (await look()) return true;
    if (performance.now() > deadline) return false;
  }
}
