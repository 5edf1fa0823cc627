/** Owner references, and the indexes that find the objects of an owner. */
import { defineIndex, type Index, type OwnerReference, type Resource, type Shape } from "../../index.ts";
import { type LabelSelectorObject, labelSelector } from "../../resource/selector.ts";

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
    readonly finalizers?: readonly string[] | undefined;
    readonly ownerReferences?: readonly OwnerReference[] | undefined;
  };
}

/** The reference to the one controller of an object, if it has one. */
export function controllerOf({ metadata }: Pick<Ownable, "metadata">): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Whether an object has no controller, so that a workload may adopt it. */
export function isOrphan(object: Pick<Ownable, "metadata">): boolean {
  return controllerOf(object) === undefined;
}

/** Whether this very object is the controller, and not an earlier object with its name. */
export function isControlledBy(object: Ownable, { metadata }: Owner): boolean {
  return controllerOf(object)?.uid === metadata.uid;
}

/** The reference that makes `owner` the controller of an object. */
export function controlledBy({ apiVersion, kind, metadata: { name, uid } }: Owner): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Computes the index value of an object: the UID of its controller, or the orphans of its namespace. */
function controllerUid(object: Ownable): string {
  return controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace);
}

/** The index value under which the orphans of a namespace are found. */
export function orphansOf(namespace: string | undefined): string {
  return `orphans of ${namespace}`;
}

const indexes = new Map<Resource, Index<Shape>>();

/** Returns the index of a kind by {@link controllerUid}, which all its users share. */
export function byController<S extends Shape>(kind: Resource<S>): Index<S> {
  const index = indexes.get(kind) ?? defineIndex(kind, "controller", controllerUid);
  indexes.set(kind, index);
  return index as Index<S>;
}

/** Returns the condition for objects whose labels a selector matches; without a selector, no object matches. */
export function selectedBy(selector: LabelSelectorObject | undefined): (object: Pick<Ownable, "metadata">) => boolean {
  if (selector === undefined) return () => false;
  const compiled = labelSelector(selector);
  return ({ metadata }) => compiled.matches(metadata.labels);
}

/** Orders objects by age, the oldest first, then by name. */
export function byAge(one: Aged, other: Aged): number {
  const [a, b] = [one.metadata, other.metadata];
  return Date.parse(a.creationTimestamp) - Date.parse(b.creationTimestamp) || (a.name < b.name ? -1 : 1);
}

interface Aged {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
}
