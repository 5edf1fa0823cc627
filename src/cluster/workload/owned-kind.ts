/** Decides which objects belong to a workload: those that it controls and selects, and the orphans that it selects. */
import type { ListOptions } from "../../client/client.ts";
import { type Client, isInvalid, isNotFound, type KeyOf, type Resource, type Shape } from "../../index.ts";
import { byController, controlledBy, controllerOf, type Ownable, type Owner, orphansOf } from "./owner.ts";

interface OwnedKindOptions<O extends Shape, S extends Shape> {
  /** The kind of the workloads, each of which is read again before it adopts anything. */
  readonly owner: Resource<O>;
  readonly kind: Resource<S>;
  /** Returns the condition for the objects that an owner selects. */
  readonly selects: (owner: O["read"]) => (object: S["read"]) => boolean;
  /** A finalizer that adopted objects get and released ones lose. @default none */
  readonly finalizer?: string | undefined;
}

export class OwnedKind<O extends Shape, S extends Shape> {
  readonly #options: OwnedKindOptions<O, S>;

  constructor(options: OwnedKindOptions<O, S>) {
    this.#options = options;
  }

  /** Lists the objects that an owner controls, whether or not it selects them. */
  controlled(
    { metadata: { uid, namespace } }: Pick<Owner, "metadata">,
    client: Pick<Client, "list">,
  ): Promise<readonly S["read"][]> {
    return this.#indexed(uid, namespace, client);
  }

  /** Lists the workloads that would adopt an object. */
  async adopters(object: S["read"], client: Pick<Client, "list">): Promise<O["read"][]> {
    const { owner, selects } = this.#options;
    const { namespace } = object.metadata;
    const owners = await client.list(owner, { namespace } as ListOptions<O>);
    return owners.filter((one) => selects(one)(object));
  }

  /**
   * Adopts selected orphans, releases controlled objects that are not selected, and returns the owner's objects.
   *
   * An owner that is being deleted neither adopts nor releases.
   *
   * @param isCandidate whether an object counts at all. @default every object does
   * @see https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#non-template-pod-acquisitions
   */
  async claim(
    owner: O["read"] & Owner,
    client: Client,
    isCandidate: (object: S["read"]) => boolean = () => true,
  ): Promise<S["read"][]> {
    const { uid, namespace, deletionTimestamp } = owner.metadata;
    const claimed: S["read"][] = [];
    const selects = this.#options.selects(owner);
    let mayAdopt: Promise<boolean> | undefined;
    const [own, orphans] = await Promise.all([
      this.controlled(owner, client),
      this.#indexed(orphansOf(namespace), namespace, client),
    ]);
    for (const object of [...own, ...orphans].filter(isCandidate)) {
      const isSelected = selects(object);
      const isOwn = controllerOf(object)?.uid === uid;
      if (isOwn && isSelected) claimed.push(object);
      else if (deletionTimestamp !== undefined) continue;
      else if (isOwn) await this.#release(object, uid, client);
      else if (isSelected && object.metadata.deletionTimestamp === undefined) {
        mayAdopt ??= this.#isAlive(owner, client);
        const adopted = (await mayAdopt) ? await this.#adopt(object, owner, client) : undefined;
        if (adopted !== undefined) claimed.push(adopted);
      }
    }
    return claimed;
  }

  #indexed(value: string, namespace: string | undefined, client: Pick<Client, "list">) {
    const { kind } = this.#options;
    return client.list(kind, { namespace, index: byController(kind).is(value) } as ListOptions<S>);
  }

  /** Asks the server: the cache may still show a deleted owner, whose objects are orphans. */
  async #isAlive({ metadata: { name, namespace, uid } }: Owner, client: Client): Promise<boolean> {
    const fresh = await client.live.find(this.#options.owner, { name, namespace } as KeyOf<O>);
    return fresh?.metadata.uid === uid && fresh.metadata.deletionTimestamp === undefined;
  }

  /** Adopts an object; `undefined` when it is gone. */
  async #adopt(object: S["read"], owner: Owner, client: Client): Promise<S["read"] | undefined> {
    const { kind, finalizer } = this.#options;
    const { name, namespace, uid } = object.metadata;
    // A strategic merge patch merges owner references by their UID, and the object's own UID ensures that it is still
    // the same object.
    const finalizers = finalizer === undefined ? undefined : [finalizer];
    const body = { metadata: { ownerReferences: [controlledBy(owner)], finalizers, uid } };
    try {
      return await client.patch(kind, { name, namespace } as KeyOf<S>, { type: "strategic", body });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #release({ metadata }: Ownable, owner: string, client: Client): Promise<void> {
    const { kind, finalizer } = this.#options;
    const { name, namespace, uid } = metadata;
    const ownerReferences = [{ $patch: "delete", uid: owner }];
    const finalizers = finalizer === undefined ? {} : { "$deleteFromPrimitiveList/finalizers": [finalizer] };
    const body = { metadata: { ownerReferences, ...finalizers, uid } };
    try {
      await client.patch(kind, { name, namespace } as KeyOf<S>, { type: "strategic", body });
    } catch (error) {
      // The object is gone, or it has no owner reference any more.
      if (!isNotFound(error) && !isInvalid(error)) throw error;
    }
  }
}
