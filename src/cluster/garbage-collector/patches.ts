/** Changes owner references, and removes the garbage collector's own finalizers. */
import { type Client, isConflict, isNotFound, type OwnerReference } from "../../index.ts";
import type { StoredKind } from "../kinds/stored-kinds.ts";
import type { Identity } from "./node.ts";

interface OwnersOf {
  readonly object: Identity;
  /** The UIDs of the owners. */
  readonly owners: readonly string[];
}

/** Removes owner references. It succeeds when the object is gone or has been replaced. */
export async function dropOwners(client: Client, kind: StoredKind, { object, owners }: OwnersOf): Promise<void> {
  const { uid } = object;
  await changed(client, kind, {
    object,
    strategic: () => ({ uid, ownerReferences: owners.map((owner) => ({ $patch: "delete", uid: owner })) }),
    merge: (all) => ({ uid, ownerReferences: all.filter((owner) => !owners.includes(owner.uid)) }),
  });
}

interface Unblocking {
  readonly object: Identity;
  readonly owners: readonly OwnerReference[];
}

/** Keeps the owners, but none of them waits for the object any more. */
export async function unblockOwners(client: Client, kind: StoredKind, { object, owners }: Unblocking): Promise<void> {
  const { uid } = object;
  const free = (all: readonly OwnerReference[]) => all.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
  await changed(client, kind, {
    object,
    strategic: () => ({
      uid,
      ownerReferences: free(owners.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)),
    }),
    merge: (all) => ({ uid, ownerReferences: free(all) }),
  });
}

interface Change {
  readonly object: Identity;
  readonly strategic: () => object;
  readonly merge: (owners: readonly OwnerReference[]) => object;
}

async function changed(client: Client, kind: StoredKind, { object, strategic, merge }: Change): Promise<void> {
  const key = keyOf(kind, object);
  try {
    if (!kind.isCustom) {
      await client.patch(kind.handle, key, { type: "strategic", body: { metadata: strategic() } });
      return;
    }
    // A merge patch replaces the list, so the list must still be the one that was read.
    const latest = await client.live.find(kind.handle, key);
    if (latest?.metadata.uid !== object.uid) return;
    const { ownerReferences = [], resourceVersion } = latest.metadata;
    await client.patch(kind.handle, key, {
      type: "merge",
      body: { metadata: { ...merge(ownerReferences), resourceVersion } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

interface Finalizing {
  readonly object: Identity;
  readonly finalizer: string;
}

const ATTEMPTS = 5;

/** Removes a finalizer; the object is deleted with the last one. */
export async function dropFinalizer(
  client: Client,
  kind: StoredKind,
  { object, finalizer }: Finalizing,
): Promise<void> {
  const key = keyOf(kind, object);
  for (let attempt = 1; ; attempt++) {
    const latest = await client.live.find(kind.handle, key);
    const { uid, resourceVersion, finalizers = [] } = latest?.metadata ?? {};
    if (uid !== object.uid || !finalizers.includes(finalizer)) return;
    const rest = finalizers.filter((one) => one !== finalizer);
    try {
      await client.patch(kind.handle, key, {
        type: "merge",
        body: { metadata: { resourceVersion, finalizers: rest } },
      });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

export function keyOf(
  { isNamespaced }: StoredKind,
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
): { readonly name: string; readonly namespace?: string | undefined } {
  return isNamespaced ? { name, namespace } : { name };
}
