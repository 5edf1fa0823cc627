/** The writes of the garbage collector: deletions, and changes of owner references and finalizers. */
import { type Client, isConflict, isNotFound, type OwnerReference } from "../../index.ts";
import type { StoredKind } from "../kinds/stored-kinds.ts";
import { type Identity, FOREGROUND, ORPHAN } from "./node.ts";
import type { AnyObject } from "../../resource/handle.ts";
import { sameJson } from "../../resource/json.ts";

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

/** Keeps the owners, but none of them waits for the object's deletion any more. */
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

function keyOf(
  { isNamespaced }: StoredKind,
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
): { readonly name: string; readonly namespace?: string | undefined } {
  return isNamespaced ? { name, namespace } : { name };
}

interface Deletion {
  /** The object as the server returned it when the deletion was decided. */
  readonly latest: AnyObject;
  /** Whether its owner waits for it and it has dependents itself. */
  readonly inForeground: boolean;
}

/** Deletes the object, unless its owners have changed since it was read. @returns false when it was gone. */
export async function deleteUnowned(
  client: Client,
  kind: StoredKind,
  { latest, inForeground }: Deletion,
): Promise<boolean> {
  const { uid, resourceVersion, finalizers = [], ownerReferences } = latest.metadata;
  const propagation =
    inForeground || (finalizers.includes(FOREGROUND) && !finalizers.includes(ORPHAN))
      ? "Foreground"
      : finalizers.includes(ORPHAN)
        ? "Orphan"
        : "Background";
  const key = keyOf(kind, latest.metadata);
  try {
    await client.delete(kind.handle, key, { propagation, preconditions: { uid, resourceVersion } });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    if (!isConflict(error)) throw error;
    const now = await client.live.find(kind.handle, key);
    if (now === undefined) return false;
    // Other fields may change often and must not keep it alive.
    const isUnowned = now.metadata.uid === uid && sameJson(now.metadata.ownerReferences, ownerReferences);
    if (!isUnowned) throw error;
    await client.delete(kind.handle, key, { propagation, preconditions: { uid } });
    return true;
  }
}
