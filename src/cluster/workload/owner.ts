/** Owner references, and the index that finds the objects of an owner. */
import type { OwnerReference } from "../../index.ts";

/** The fields of an object that owns others. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly deletionTimestamp?: string | undefined;
  };
}

/** The fields of an object that has owners. */
export interface Ownable {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly deletionTimestamp?: string | undefined;
    readonly ownerReferences?: readonly OwnerReference[] | undefined;
  };
}

/** The reference to the one controller of an object, if it has one. */
export function controllerOf({ metadata }: Pick<Ownable, "metadata">): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Whether this very object is the controller, and not an earlier one with its name. */
export function isControlledBy(object: Ownable, { metadata }: Owner): boolean {
  return controllerOf(object)?.uid === metadata.uid;
}

/** The reference that makes `owner` the controller of an object. */
export function controlledBy({ apiVersion, kind, metadata: { name, uid } }: Owner): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Computes the index value of an object: the UID of its controller, or the orphans of its namespace. */
export function controllerUid(object: Ownable): string {
  return controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace);
}

/** The index value under which the orphans of a namespace are found. */
export function orphansOf(namespace: string | undefined): string {
  return `orphans of ${namespace}`;
}
