/** How the garbage collector hears of objects: one stream of the metadata of all kinds. */
import type { OwnerReference } from "../../../index.ts";

/** What the garbage collector looks at. */
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
  /** The state before, if there was one. */
  readonly old: Owned | undefined;
}

/**
 * Tells of every object there is, then of every change.
 *
 * A watch of each kind would do as well; sixty of them take longer to start than a test takes.
 *
 * @returns what ends it.
 */
export type ObjectFeed = (listener: (change: OwnedChange) => void) => () => void;

/** The kinds whose objects nobody owns and that own nobody: they come often and are not looked at. */
export function isIgnored({ apiVersion, kind }: Owned): boolean {
  return kind === "Event" && (apiVersion === "v1" || apiVersion.startsWith("events.k8s.io/"));
}
