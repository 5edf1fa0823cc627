/** Classifies the owners of an object by asking the server. */
import { type Client, type OwnerReference, RetryError } from "../../index.ts";
import { servedKind } from "../kinds/stored-kinds.ts";
import { FOREGROUND, ownerIdentity, waitsFor } from "./node.ts";
import type { AbsentOwners } from "./owner-graph.ts";

/** Thrown when a cluster-scoped object names a namespaced owner. */
export class NamespacedOwner extends Error {}

/** Owners that keep an object alive, owners that do not exist, and owners whose own deletion waits for the object. */
export class OwnerClasses {
  readonly solid: OwnerReference[] = [];
  readonly dangling: OwnerReference[] = [];
  readonly waiting: OwnerReference[] = [];
  readonly #client: Client;
  readonly #absent: AbsentOwners;

  constructor(client: Client, absent: AbsentOwners) {
    this.#client = client;
    this.#absent = absent;
  }

  /** Classifies the owners. @throws NamespacedOwner, and RetryError when the kind of an owner is not served. */
  async take(owners: readonly OwnerReference[], namespace: string | undefined): Promise<void> {
    for (const owner of owners) (await this.#classOf(owner, namespace)).push(owner);
  }

  async #classOf(owner: OwnerReference, namespace: string | undefined): Promise<OwnerReference[]> {
    const inCluster = ownerIdentity(owner, undefined);
    const inNamespace = ownerIdentity(owner, namespace);
    if (this.#absent.has(inCluster) || this.#absent.has(inNamespace)) return this.dangling;
    const kind = await servedKind(this.#client, owner);
    if (kind === undefined)
      throw new RetryError(`No kind ${owner.kind} of ${owner.apiVersion} is served`, { after: "1s" });
    if (kind.isNamespaced && namespace === undefined) throw new NamespacedOwner(owner.name);
    const { name, uid } = owner;
    const live = await this.#client.live.find(kind.handle, kind.isNamespaced ? { name, namespace } : { name });
    if (live?.metadata.uid !== uid) {
      this.#absent.add(kind.isNamespaced ? inNamespace : inCluster);
      return this.dangling;
    }
    return waitsFor(FOREGROUND, live) ? this.waiting : this.solid;
  }
}
