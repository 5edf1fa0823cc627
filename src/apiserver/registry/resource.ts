/** One served version of one kind, with everything that answers for it. */
import type { KindBehaviour, KindRow, KubeObject, Printer } from "../hooks.ts";
import type { SchemaHandle } from "../parts.ts";
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
  /** An object of this version as it is stored. */
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

/** `namespace/name`, or the name alone where the kind has no namespaces. */
export function keyOf(resource: { readonly row: KindRow }, namespace: string, name: string): string {
  return resource.row.namespaced ? `${namespace}/${name}` : name;
}
