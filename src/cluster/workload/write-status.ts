/** Writes the whole status of a workload, as its controller computed it. */
import { type Client, isConflict, type KeyOf, type Resource, type Shape } from "../../index.ts";
import { sameJson } from "../../resource/json.ts";

interface WithStatus {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly uid: string };
}

/** Replaces the status, if need be of a newer version of the same object. @returns the object after the write */
export async function writeStatus<S extends Shape>(
  client: Client,
  resource: Resource<S>,
  object: S["read"] & { readonly status?: unknown },
): Promise<S["read"]> {
  const { name, namespace, uid } = (object as WithStatus).metadata;
  const key = { namespace, name } as KeyOf<S>;
  const statuses = client.subresource<S>("status");
  try {
    return await statuses.update(resource, key, object);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const fresh = await client.live.find(resource, key);
    if (fresh?.metadata.uid !== uid) throw error;
    return statuses.update(resource, key, { ...fresh, status: object.status });
  }
}

interface ReplicaStatus {
  readonly terminatingReplicas?: number | undefined;
  readonly conditions?: readonly object[] | undefined;
}

/**
 * Whether the server has this status of replicas already; it omits counts of 0, except the count of terminating
 * replicas.
 */
export function isWritten<S extends ReplicaStatus>(status: S | undefined, wanted: S): boolean {
  const { conditions = [], ...counts } = wanted;
  return (
    Object.entries(counts).every(([field, count]) => (status?.[field as keyof S] ?? 0) === (count ?? 0)) &&
    (wanted.terminatingReplicas === undefined || status?.terminatingReplicas !== undefined) &&
    sameJson(status?.conditions ?? [], conditions)
  );
}
