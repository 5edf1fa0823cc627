/** The served kinds: the built-in ones and those of CustomResourceDefinitions. */
import type { KindRow, KubeObject, Reader } from "../hooks.ts";
import { writeJson } from "../numbers.ts";
import type { Storage } from "../storage/storage.ts";
import { builtInRows } from "../tables/tables.ts";
import { builtInResource } from "./built-in-resource.ts";
import { customResource } from "./custom-resource.ts";
import { compareVersionNames, specOf } from "./custom-rows.ts";
import type { Resource } from "./resource.ts";

export const definitionsName = "apiextensions.k8s.io/customresourcedefinitions";

/** A group and its versions as discovery lists them, the preferred one first. */
export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly string[];
}

interface Served {
  readonly resources: readonly Resource[];
  /** The text of the definition; comparing it shows whether a change matters. */
  readonly says: string;
  readonly retire: AbortController;
}

export class KindRegistry {
  readonly #builtIn = new Map<string, KindRow>();
  readonly #resources = new Map<string, Resource>();
  /** The custom kinds by the name of their definition. */
  readonly #custom = new Map<string, Served>();
  readonly #storage: Storage;
  /** Counts changes of what is served, for values that are derived from it. */
  #generation = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
    for (const row of builtInRows()) this.#builtIn.set(pathOf(row), row);
    const definitions = storage.collection(definitionsName);
    for (const { object } of definitions.all()) this.define(object);
  }

  get generation(): number {
    return this.#generation;
  }

  /** Returns the resource of a path. */
  get(group: string, version: string, plural: string): Resource | undefined {
    const path = `${group}/${version}/${plural}`;
    const known = this.#resources.get(path);
    if (known !== undefined) return known;
    const row = this.#builtIn.get(path);
    if (row === undefined) return undefined;
    const resource = builtInResource(row, this.#storage);
    this.#resources.set(path, resource);
    return resource;
  }

  /**
   * Serves a definition in its present form instead of its earlier one; does nothing while the definition is not
   * established.
   */
  define(definition: KubeObject): void {
    const name = definition.metadata.name ?? "";
    const says = writeJson([definition["spec"], isEstablished(definition)]);
    if (this.#custom.get(name)?.says === says) return;
    this.undefine(name);
    if (!isEstablished(definition) || !Array.isArray(specOf(definition).versions)) return;
    const retire = new AbortController();
    const versions = specOf(definition).versions.filter(({ served }) => served);
    const resources = versions.map((version) =>
      customResource(definition, version, { storage: this.#storage, reader: this.reader(), retired: retire.signal }),
    );
    for (const resource of resources) this.#resources.set(pathOf(resource.row), resource);
    this.#custom.set(name, { resources, says, retire });
    this.#generation += 1;
  }

  undefine(name: string): void {
    const served = this.#custom.get(name);
    if (served === undefined) return;
    for (const { row } of served.resources) this.#resources.delete(pathOf(row));
    this.#custom.delete(name);
    this.#generation += 1;
    served.retire.abort();
  }

  /** Returns every served row: built-in ones in the order of their table, then custom ones by group. */
  rows(): readonly KindRow[] {
    const custom = [...this.#custom.values()].flatMap(({ resources }) => resources.map(({ row }) => row));
    custom.sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : compareVersionNames(a.version, b.version)));
    return [...this.#builtIn.values(), ...custom];
  }

  /** Returns all groups except the core group, in the order of discovery. */
  groups(): readonly ServedGroup[] {
    const groups = new Map<string, Set<string>>();
    for (const { group, version } of this.rows()) {
      if (group === "") continue;
      groups.set(group, (groups.get(group) ?? new Set()).add(version));
    }
    return [...groups].map(([name, versions]) => ({
      name,
      versions: [...versions].toSorted(compareVersionNames),
    }));
  }

  /** Returns a reader that shows stored objects in any served version. */
  reader(): Reader {
    const storage = this.#storage;
    return {
      get({ group, plural }, { namespace, name }) {
        const key = namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
        return storage.collection(`${group}/${plural}`).get(key)?.object;
      },
      list({ group, plural }, namespace) {
        const all = storage.collection(`${group}/${plural}`).all();
        const inside = namespace === undefined ? all : all.filter(({ key }) => key.startsWith(`${namespace}/`));
        return inside.map(({ object }) => object);
      },
    };
  }
}

function pathOf({ group, version, plural }: KindRow): string {
  return `${group}/${version}/${plural}`;
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

export function isEstablished(definition: KubeObject): boolean {
  const { conditions } = (definition["status"] ?? {}) as { conditions?: readonly Condition[] | null };
  return conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
}
