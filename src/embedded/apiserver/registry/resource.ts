/** One served version of one kind, with everything that answers for it. */
import type { KindBehaviour, KindRow, KubeObject, Printer } from "../hooks.ts";
import type { SchemaHandle } from "../machinery.ts";
import type { Collection } from "../storage/collection.ts";
import type { Stored } from "../storage/stored.ts";
import type { Traits } from "./traits.ts";

/** Where a custom kind's `/scale` finds its numbers. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

export interface Resource {
  readonly row: KindRow;
  /** `group/version`, or the version alone in the core group. */
  readonly apiVersion: string;
  readonly collection: Collection;
  readonly schema: SchemaHandle | undefined;
  readonly behaviour: KindBehaviour;
  readonly printer: Printer;
  readonly traits: Traits;
  readonly hasStatus: boolean;
  /** What Go writes of a status that nobody has set; `undefined` when nothing. */
  readonly emptyStatus: unknown;
  /** Selectable fields of a custom kind, as paths: `.spec.color`. */
  readonly selectablePaths: readonly string[];
  readonly scale: ScalePaths | undefined;
  readonly deprecationWarning: string | undefined;
  /** Aborted when this very resource is served no more: its definition changed or went. */
  readonly retired: AbortSignal | undefined;
  /** Stored objects as this version shows them; the same ones when nothing differs. */
  view(stored: readonly Stored[]): readonly Stored[] | Promise<readonly Stored[]>;
  /** Whether reading the object itself shows less than is stored, which its subresources and its going show whole. */
  readonly readsLess: boolean;
  /** An object of this version as it is stored. */
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

/** One stored object as a request for the object itself or for this subresource shows it. */
export function viewOf(resource: Resource, stored: Stored, subresource: string): Stored | Promise<Stored> {
  if (resource.readsLess && subresource !== "") return stored;
  const views = resource.view([stored]);
  if (views instanceof Promise) return views.then(([view = stored]) => view);
  return views[0] ?? stored;
}

/** `namespace/name`, or the name alone where the kind has no namespaces. */
export function keyOf(resource: { readonly row: KindRow }, namespace: string, name: string): string {
  return resource.row.namespaced ? `${namespace}/${name}` : name;
}
