/** The graph of owners and dependents by UID, updated by events of objects. */
import type { OwnerReference } from "../../index.ts";
import {
  beginsToWait,
  FOREGROUND,
  type Identity,
  identityOf,
  idOf,
  isSame,
  matches,
  Node,
  ORPHAN,
  ownerIdentity,
  waitsFor,
} from "./node.ts";
import type { OwnedChange } from "./object-feed.ts";

/** Receives the calls of the graph. */
export interface GraphListener {
  /** Called when an object must be checked against the server. */
  look(node: Node): void;
  /** Called when a dependent names an owner in another namespace. */
  strays(dependent: Node, owner: OwnerReference): void;
}

/**
 * The graph.
 *
 * An owner that only its dependents name is a virtual node until an event shows the object, or until the server says
 * that it does not exist.
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

  /** Called for an object that must be checked. */
  look(node: Node): void {
    this.#listener.look(node);
  }

  /** Applies an event of an object. */
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

  /** The server has no such object: removes its virtual node and has its dependents checked. */
  isGone(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    const { matching, others } = splitByIdentity(node.dependents, identity);
    const isUnsure = node.isVirtual && others.length > 0;
    // An event has shown the object under another name, so only an event can remove it.
    if (!isUnsure && (node.isVirtual || isSame(node.identity, identity))) return this.#remove(node, identity);
    if (matching.length > 0) this.absent.add(identity);
    for (const dependent of matching) this.look(dependent);
    if (!isUnsure || !isSame(node.identity, identity)) return;
    // Its dependents disagree about it, so another description is tried next.
    const alternate = alternateIdentity(others, identity);
    if (alternate === undefined) return;
    node.identity = alternate;
    this.look(node);
  }

  /** Turns a virtual node into a real one when an event shows its object. */
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
      // A virtual owner without a namespace may be a namespaced one that a cluster-scoped dependent names.
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
      // This dependent may have been the last one that the owner waited for.
      if (this.#nodes.get(uid)?.isDeletingDependents === true) this.#lookAt(uid);
    }
  }

  #lookAt(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node !== undefined) this.look(node);
  }
}

/** How many absent owners are remembered. */
const CAPACITY = 500;

/**
 * Remembers owners that the server does not have, so that a thousand dependents of one owner cause one request. An
 * entry never becomes wrong, because a deleted object never comes back with the same UID.
 */
export class AbsentOwners {
  readonly #ids = new Set<string>();

  add(owner: Identity): void {
    const id = idOf(owner);
    this.#ids.delete(id);
    this.#ids.add(id);
    if (this.#ids.size > CAPACITY) for (const oldest of this.#ids) return void this.#ids.delete(oldest);
  }

  has(owner: Identity): boolean {
    return this.#ids.has(idOf(owner));
  }
}

/** Splits dependents by whether they mean the object; a dependent with two references may be in both lists. */
function splitByIdentity(
  dependents: Iterable<Node>,
  identity: Identity,
): { readonly matching: readonly Node[]; readonly others: readonly Node[] } {
  const matching: Node[] = [];
  const others: Node[] = [];
  for (const dependent of dependents) {
    if (identity.namespace !== undefined && dependent.identity.namespace !== identity.namespace) {
      others.push(dependent);
      continue;
    }
    const references = dependent.owners.filter(({ uid }) => uid === identity.uid);
    if (references.some((reference) => matches(reference, identity))) matching.push(dependent);
    if (references.some((reference) => !matches(reference, identity))) others.push(dependent);
  }
  return { matching, others };
}

/** Returns another description of an absent owner: the next one after `absent` in order, otherwise the first. */
function alternateIdentity(dependents: readonly Node[], absent: Identity): Identity | undefined {
  const alternates: Identity[] = [];
  for (const { owners, identity } of dependents) {
    for (const reference of owners) {
      if (reference.uid !== absent.uid) continue;
      const isSameKind = reference.apiVersion === absent.apiVersion && reference.kind === absent.kind;
      const isClusterScoped = absent.namespace === undefined && isSameKind;
      const alternate = ownerIdentity(reference, isClusterScoped ? undefined : identity.namespace);
      if (!isSame(alternate, absent)) alternates.push(alternate);
    }
  }
  alternates.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return alternates.find((alternate) => rank(alternate) > rank(absent)) ?? alternates[0];
}

function rank(identity: Identity): string {
  return `${identity.kind} ${idOf(identity)}`;
}
