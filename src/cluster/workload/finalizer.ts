/** Finalizers that a controller of the cluster takes away again. */
import { type Client, isNotFound, type Resource } from "../../index.ts";
import type { Ownable } from "./owner.ts";

/** Whether an object that is being deleted waits for a finalizer. */
export function isHeld({ metadata }: Pick<Ownable, "metadata">, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}

/** Removes a finalizer, which succeeds also for an object that is gone. */
export async function release(
  resource: Resource,
  { metadata: { name, namespace = "", uid } }: Pick<Ownable, "metadata">,
  { finalizer, client }: { readonly finalizer: string; readonly client: Client },
): Promise<void> {
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [finalizer] } };
  try {
    await client.patch(resource, { name, namespace }, { type: "strategic", body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
