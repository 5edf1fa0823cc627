/** Deletes an object on behalf of the garbage collector. */
import { type Client, isConflict, isNotFound } from "../../index.ts";
import type { AnyObject } from "../../resource/handle.ts";
import { sameJson } from "../../resource/json.ts";
import type { StoredKind } from "../kinds/stored-kinds.ts";
import { FOREGROUND, ORPHAN } from "./node.ts";
import { keyOf } from "./patches.ts";

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
