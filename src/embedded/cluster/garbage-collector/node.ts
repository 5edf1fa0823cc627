/** The nodes of the graph of owners and dependents. */
import type { OwnerReference } from "../../../index.ts";
import type { Owned } from "./object-feed.ts";

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** Which object a node is for. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** `undefined` for a cluster-scoped object. */
  readonly namespace: string | undefined;
  readonly uid: string;
}

/** An object as the graph knows it. */
export class Node {
  /** Of a virtual node it is what one of its dependents says. */
  identity: Identity;
  owners: readonly OwnerReference[] = [];
  readonly dependents: Set<Node> = new Set();
  /** Only named by dependents so far: nobody has told of the object. */
  isVirtual: boolean;
  isBeingDeleted = false;
  /** Waits for its dependents to be deleted before it is. */
  isDeletingDependents = false;
  /** Waits for its dependents to be let go before it is deleted. */
  isOrphaning = false;

  constructor(identity: Identity, { isVirtual }: { readonly isVirtual: boolean }) {
    this.identity = identity;
    this.isVirtual = isVirtual;
  }

  /** The dependents that the owner's deletion in the foreground waits for. */
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

/** What a dependent says of its owner: a namespaced owner must be in its own namespace. */
export function ownerIdentity(
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
): Identity {
  return { apiVersion, kind, name, namespace, uid };
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.namespace === b.namespace && matches(a, b);
}

/** The same object, apart from the namespace. */
export function matches(a: Omit<Identity, "namespace">, b: Omit<Identity, "namespace">): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

export function idOf({ apiVersion, kind, name, namespace = "", uid }: Identity): string {
  return [apiVersion, kind, namespace, name, uid].join(" ");
}

/** Whether deletion has begun to wait for a finalizer. */
export function beginsToWait(finalizer: string, object: Owned, old: Owned | undefined): boolean {
  return waitsFor(finalizer, object) && (old === undefined || !waitsFor(finalizer, old));
}

export function waitsFor(finalizer: string, { metadata }: Owned): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}
