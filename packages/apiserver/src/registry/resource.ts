/** One served version of a kind, with everything that serves it. */
import type { KindBehaviour, KindRow, KubeObject, Printer } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import type { Collection } from "../storage/collection.ts";
import type { Stored } from "../storage/stored.ts";
import type { Traits } from "./traits.ts";

/** The paths at which the `/scale` of a custom kind finds its numbers. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

export interface Resource {
  readonly row: KindRow;
  /** The `group/version`, or the version alone in the core group. */
  readonly apiVersion: string;
  readonly collection: Collection;
  readonly schema: Schema | undefined;
  readonly behaviour: KindBehaviour;
  readonly printer: Printer;
  readonly traits: Traits;
  readonly hasStatus: boolean;
  /** The status that Go writes when nobody has set one; `undefined` for none. */
  readonly emptyStatus: unknown;
  /** The selectable fields of a custom kind, as paths such as `.spec.color`. */
  readonly selectablePaths: readonly string[];
  readonly scale: ScalePaths | undefined;
  readonly deprecationWarning: string | undefined;
  /** Aborted when this resource is not served any more, because its definition changed or was deleted. */
  readonly retired: AbortSignal | undefined;
  /** Returns stored objects in the form of this version; the same objects when the forms do not differ. */
  view(stored: readonly Stored[]): readonly Stored[] | Promise<readonly Stored[]>;
  /**
   * Whether reads of the object itself show less than is stored; reads of its subresources and its deletion show
   * everything.
   */
  readonly readsLess: boolean;
  /** Returns an object of this version in its stored form. */
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns a stored object in the form in which the object itself or this subresource is read. */
export function viewOf(resource: Resource, stored: Stored, subresource: string): Stored | Promise<Stored> {
  if (resource.readsLess && subresource !== "") return stored;
  const views = resource.view([stored]);
  if (views instanceof Promise) return views.then(([view = stored]) => view);
  return views[0] ?? stored;
}

/** Returns `namespace/name`, or the name alone where the kind has no namespaces. */
export function keyOf(resource: { readonly row: KindRow }, namespace: string, name: string): string {
  return resource.row.namespaced ? `${namespace}/${name}` : name;
}
