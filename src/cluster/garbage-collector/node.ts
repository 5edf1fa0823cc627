/** The nodes of the graph of owners and dependents. */
import type { OwnerReference } from "../../index.ts";
import type { Owned } from "./object-feed.ts";

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** Identifies the object of a node. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** The namespace; `undefined` for a cluster-scoped object. */
  readonly namespace: string | undefined;
  readonly uid: string;
}

/** An object as the graph knows it. */
export class Node {
  /** The identity of the object; a virtual node has the identity that one of its dependents names. */
  identity: Identity;
  owners: readonly OwnerReference[] = [];
  readonly dependents: Set<Node> = new Set();
  /** Whether only dependents have named the object so far, and no event has shown it. */
  isVirtual: boolean;
  isBeingDeleted = false;
  /** Whether the object waits for its dependents to be deleted first. */
  isDeletingDependents = false;
  /** Whether the object waits for its dependents to be orphaned first. */
  isOrphaning = false;

  constructor(identity: Identity, { isVirtual }: { readonly isVirtual: boolean }) {
    this.identity = identity;
    this.isVirtual = isVirtual;
  }

  /** The dependents that block the owner's deletion in the foreground. */
  get blockingDependents(): readonly Node[] {
    const { uid } = this.identity;
    return [...this.dependents].filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    );
  }
}

export function identityOf({ apiVersion, kind, metadata: { name, namespace, uid } }: Owned): Identity {
  return { apiVersion, kind, name, namespace, uid };
}

/** Reads the owner's identity from a dependent's reference; a namespaced owner must be in the dependent's namespace. */
export function ownerIdentity(
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
): Identity {
  return { apiVersion, kind, name, namespace, uid };
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.namespace === b.namespace && matches(a, b);
}

/** Whether both mean the same object, apart from the namespace. */
export function matches(a: Omit<Identity, "namespace">, b: Omit<Identity, "namespace">): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

export function idOf({ apiVersion, kind, name, namespace = "", uid }: Identity): string {
  return [apiVersion, kind, namespace, name, uid].join(" ");
}

/** Whether the deletion begins with this event and waits for this finalizer. */
export function beginsToWait(finalizer: string, object: Owned, old: Owned | undefined): boolean {
  return waitsFor(finalizer, object) && (old === undefined || !waitsFor(finalizer, old));
}

export function waitsFor(finalizer: string, { metadata }: Owned): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}
