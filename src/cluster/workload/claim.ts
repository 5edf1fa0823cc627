/** Decides which objects belong to a controller: those that it controls and selects, and the orphans that it selects. */
import { type Client, isInvalid, isNotFound, type KeyOf, type Resource, type Shape } from "../../index.ts";
import { controlledBy, controllerOf, type Ownable, type Owner } from "./owner.ts";

interface ClaimOptions<S extends Shape> {
  readonly client: Client;
  /** The kind of the owner, which is read again before anything is adopted. */
  readonly ownerKind: Resource;
  /** The kind of the objects. */
  readonly kind: Resource<S>;
  readonly isSelected: (object: S["read"]) => boolean;
  /** A finalizer that adopted objects get and released ones lose. @default none */
  readonly finalizer?: string | undefined;
}

/**
 * Adopts the orphans that are selected, releases what is controlled and not selected, and returns the owner's own.
 *
 * An owner that is being deleted neither adopts nor releases.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#non-template-pod-acquisitions
 */
export async function claim<S extends Shape>(
  owner: Owner,
  objects: readonly S["read"][],
  options: ClaimOptions<S>,
): Promise<S["read"][]> {
  const { client, kind, isSelected, finalizer } = options;
  const { uid, deletionTimestamp } = owner.metadata;
  const claimed: S["read"][] = [];
  let mayAdopt: Promise<boolean> | undefined;
  for (const object of objects) {
    const controller = controllerOf(object);
    if (controller !== undefined && controller.uid !== uid) continue;
    const selected = isSelected(object);
    if (controller !== undefined && selected) claimed.push(object);
    else if (deletionTimestamp !== undefined) continue;
    else if (controller !== undefined) await release(client, kind, { object, uid, finalizer });
    else if (selected && object.metadata.deletionTimestamp === undefined) {
      mayAdopt ??= isAlive(owner, options);
      if (!(await mayAdopt)) continue;
      const adopted = await adopt(client, kind, { object, owner, finalizer });
      if (adopted !== undefined) claimed.push(adopted);
    }
  }
  return claimed;
}

/** Asks the server, because an object may be an orphan after the deletion of its owner, which is not in the cache yet. */
async function isAlive<S extends Shape>(owner: Owner, { client, ownerKind }: ClaimOptions<S>): Promise<boolean> {
  const { name, namespace, uid } = owner.metadata;
  const fresh = await client.live.find(ownerKind, { name, namespace });
  return fresh?.metadata.uid === uid && fresh.metadata.deletionTimestamp === undefined;
}

interface Adoption<S extends Shape> {
  readonly object: S["read"];
  readonly owner: Owner;
  readonly finalizer: string | undefined;
}

/** Adopts an object; `undefined` when it is gone. */
async function adopt<S extends Shape>(
  client: Client,
  kind: Resource<S>,
  { object, owner, finalizer }: Adoption<S>,
): Promise<S["read"] | undefined> {
  const { name, namespace, uid } = object.metadata;
  // A strategic merge patch merges owner references by their UID, and the object's own UID makes sure that it is
  // still the same one.
  const finalizers = finalizer === undefined ? undefined : [finalizer];
  const body = { metadata: { ownerReferences: [controlledBy(owner)], finalizers, uid } };
  try {
    return await client.patch(kind, { name, namespace } as KeyOf<S>, { type: "strategic", body });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Release {
  readonly object: Ownable;
  /** The UID of the owner. */
  readonly uid: string;
  readonly finalizer: string | undefined;
}

async function release(client: Client, kind: Resource, { object, uid, finalizer }: Release): Promise<void> {
  const { name, namespace } = object.metadata;
  const ownerReferences = [{ $patch: "delete", uid }];
  const finalizers = finalizer === undefined ? {} : { "$deleteFromPrimitiveList/finalizers": [finalizer] };
  const body = { metadata: { ownerReferences, ...finalizers, uid: object.metadata.uid } };
  try {
    await client.patch(kind, { name, namespace }, { type: "strategic", body });
  } catch (error) {
    // The object is gone, or it has no owner reference any more.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
