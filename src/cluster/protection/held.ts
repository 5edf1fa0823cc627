/** Objects of storage that are deleted once nobody uses them any more: a finalizer of the API server holds them until then. */
import { type Client, isNotFound, type Resource } from "../../index.ts";

interface Held {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly deletionTimestamp?: string | undefined;
    readonly finalizers?: readonly string[] | undefined;
  };
}

export function isHeld({ metadata }: Held, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}

/** Lets an object go. */
export async function release(
  resource: Resource,
  { metadata: { name, namespace = "", uid } }: Held,
  { finalizer, client }: { readonly finalizer: string; readonly client: Client },
): Promise<void> {
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [finalizer] } };
  try {
    await client.patch(resource, { name, namespace }, { type: "strategic", body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
