/** Who owns whom: a graph by UID, kept current by what is told of objects. */
import type { OwnerReference } from "../../../index.ts";
import { AbsentOwners } from "./absent-owners.ts";
import { alternateIdentity, splitByIdentity } from "./disagreement.ts";
import {
  beginsToWait,
  FOREGROUND,
  type Identity,
  identityOf,
  isSame,
  matches,
  Node,
  ORPHAN,
  ownerIdentity,
  waitsFor,
} from "./node.ts";
import type { OwnedChange } from "./object-feed.ts";

/** What the graph asks for. */
export interface GraphListener {
  /** Something about the object makes it worth a look at the server. */
  look(node: Node): void;
  /** A dependent names an owner in another namespace. */
  strays(dependent: Node, owner: OwnerReference): void;
}

/**
 * The graph.
 *
 * An owner that only its dependents speak of is a virtual node until somebody tells of the object, or until the server
 * says that there is none.
 *
 * @see https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
export class OwnerGraph {
  readonly absent: AbsentOwners = new AbsentOwners();
  readonly #nodes = new Map<string, Node>();
  readonly #listener: GraphListener;

  constructor(listener: GraphListener) {
    this.#listener = listener;
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  /** Asks for a look at an object. */
  look(node: Node): void {
    this.#listener.look(node);
  }

  /** Takes in what happened to an object. */
  tell({ type, object, old }: OwnedChange): void {
    const identity = identityOf(object);
    const known = this.#nodes.get(identity.uid);
    if (known?.isVirtual === true) this.#observe(known, identity);
    if (type === "DELETED") {
      if (known !== undefined) this.#remove(known, identity);
      return;
    }
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    const node = known ?? new Node(identity, { isVirtual: false });
    if (known === undefined) this.#nodes.set(identity.uid, node);
    this.#setOwners(node, ownerReferences);
    if (deletionTimestamp !== undefined) node.isBeingDeleted = true;
    if (known === undefined) node.isDeletingDependents = waitsFor(FOREGROUND, object);
    if (beginsToWait(ORPHAN, object, old)) {
      node.isOrphaning = true;
      this.look(node);
    } else if (beginsToWait(FOREGROUND, object, old)) {
      node.isDeletingDependents = true;
      for (const dependent of node.dependents) this.look(dependent);
      this.look(node);
    }
  }

  /** The server has no such object: what only this graph believed in goes, and its dependents are looked at. */
  isGone(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    const { matching, others } = splitByIdentity(node.dependents, identity);
    const isUnsure = node.isVirtual && others.length > 0;
    // Somebody told of the object under another name: only he can say that it is gone.
    if (!isUnsure && (node.isVirtual || isSame(node.identity, identity))) return this.#remove(node, identity);
    if (matching.length > 0) this.absent.add(identity);
    for (const dependent of matching) this.look(dependent);
    if (!isUnsure || !isSame(node.identity, identity)) return;
    // Its dependents do not agree about it: what another says is tried next.
    const alternate = alternateIdentity(others, identity);
    if (alternate === undefined) return;
    node.identity = alternate;
    this.look(node);
  }

  /** Somebody tells of an object that was only spoken of. */
  #observe(node: Node, identity: Identity): void {
    node.isVirtual = false;
    if (isSame(node.identity, identity)) return;
    node.identity = identity;
    for (const dependent of splitByIdentity(node.dependents, identity).others) {
      this.#reportStray(dependent, node);
      this.look(dependent);
    }
  }

  #setOwners(node: Node, owners: readonly OwnerReference[]): void {
    const before = node.owners;
    if (owners.length === 0 && before.length === 0) return;
    node.owners = owners;
    const added = owners.filter(({ uid }) => !before.some((owner) => owner.uid === uid));
    for (const old of before) {
      const now = owners.find(({ uid }) => uid === old.uid);
      if (old.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true) this.#lookAt(old.uid);
      if (now === undefined) this.#nodes.get(old.uid)?.dependents.delete(node);
    }
    this.#addTo(added, node);
  }

  #addTo(owners: readonly OwnerReference[], dependent: Node): void {
    let isDoubtful = false;
    const { namespace } = dependent.identity;
    for (const reference of owners) {
      const owner = this.#nodes.get(reference.uid);
      if (owner === undefined) {
        const virtual = new Node(ownerIdentity(reference, namespace), { isVirtual: true });
        this.#nodes.set(reference.uid, virtual);
        virtual.dependents.add(dependent);
        this.look(virtual);
        continue;
      }
      owner.dependents.add(dependent);
      if (isDoubtful) continue;
      const { identity } = owner;
      const isElsewhere = identity.namespace !== namespace;
      if (identity.namespace !== undefined && isElsewhere) this.#reportStray(dependent, owner);
      // A virtual owner without a namespace may be a namespaced one, named by a cluster-scoped dependent.
      isDoubtful = isElsewhere && (identity.namespace !== undefined || owner.isVirtual);
      isDoubtful ||= !matches(reference, identity);
    }
    if (isDoubtful) this.look(dependent);
  }

  #reportStray(dependent: Node, { identity, isVirtual }: Node): void {
    if (isVirtual || identity.namespace === undefined || identity.namespace === dependent.identity.namespace) return;
    const reference = dependent.owners.find(({ uid }) => uid === identity.uid);
    if (reference !== undefined) this.#listener.strays(dependent, reference);
  }

  #remove(node: Node, identity: Identity): void {
    this.#nodes.delete(identity.uid);
    for (const { uid } of node.owners) this.#nodes.get(uid)?.dependents.delete(node);
    if (node.dependents.size > 0) this.absent.add(identity);
    for (const dependent of node.dependents) this.look(dependent);
    for (const { uid } of node.owners) {
      // Perhaps the last one that it waited for.
      if (this.#nodes.get(uid)?.isDeletingDependents === true) this.#lookAt(uid);
    }
  }

  #lookAt(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined) this.look(node);
  }
}
