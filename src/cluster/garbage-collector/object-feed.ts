/** Feeds the garbage collector with the metadata of all kinds in one stream. */
import type { OwnerReference } from "../../index.ts";

/** The parts of an object that the garbage collector reads. */
export interface Owned {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly deletionTimestamp?: string | undefined;
    readonly finalizers?: readonly string[] | undefined;
    readonly ownerReferences?: readonly OwnerReference[] | undefined;
  };
}

export interface OwnedChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Owned;
  /** The state before the change, if there was one. */
  readonly old: Owned | undefined;
}

/**
 * Reports every existing object, then every change.
 *
 * A watch of each kind would do the same, but sixty of them take longer to start than a test runs.
 *
 * @returns a function that ends it.
 */
export type ObjectFeed = (listener: (change: OwnedChange) => void) => () => void;

/** Kinds whose objects have no owners and own nothing; they change often and are skipped. */
export function isIgnored({ apiVersion, kind }: Owned): boolean {
  return kind === "Event" && (apiVersion === "v1" || apiVersion.startsWith("events.k8s.io/"));
}
