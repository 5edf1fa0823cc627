/** Owners and what they control: references, and the index that finds the controlled. */
import type { OwnerReference } from "../../../index.ts";

/** What every object has that can own another. */
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

/** What every object has that can be owned. */
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

/** Whether the object's controller is this very object, and not another of its name. */
export function isControlledBy(object: Ownable, { metadata }: Owner): boolean {
  return controllerOf(object)?.uid === metadata.uid;
}

/** The reference that makes `owner` the controller of an object. */
export function controlledBy({ apiVersion, kind, metadata: { name, uid } }: Owner): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** For an index: the UID of the controller, or the orphans of the namespace. */
export function controllerUid(object: Ownable): string {
  return controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace);
}

/** Where that index has the objects of a namespace that nobody controls. */
export function orphansOf(namespace: string | undefined): string {
  return `orphans of ${namespace}`;
}
