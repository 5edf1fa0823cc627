/** One version of a custom kind with everything that serves it. */
import type { KubeObject, Reader } from "../hooks.ts";
import { convertObjects } from "../admission/conversion.ts";
import { customPrinter } from "../printers/printers.ts";
import { customSchema } from "../schema/custom.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { decodeKubeObject } from "../schema/kube-object.ts";
import type { Schema } from "../schema/schema.ts";
import { behaviourOf } from "../validation/behaviours.ts";
import { Stored } from "../storage/stored.ts";
import type { Storage } from "../storage/storage.ts";
import { getOrInsert } from "../get-or-insert.ts";
import { compareVersionNames, customRow, type DefinitionVersion, scalePaths, specOf } from "./custom-rows.ts";
import { apiVersionOf, type Resource } from "./resource.ts";
import { traitsOf } from "./traits.ts";

interface Parts {
  readonly storage: Storage;
  readonly reader: Reader;
  readonly retired: AbortSignal;
}

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The number of objects of a list that a conversion webhook gets at once, because nothing bounds their total size. */
const MOST_CONVERTED = 500;

async function inBatches<T>(
  items: readonly T[],
  convert: (batch: readonly T[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const converted: T[] = [];
  for (let start = 0; start < items.length; start += MOST_CONVERTED)
    converted.push(...(await convert(items.slice(start, start + MOST_CONVERTED))));
  return converted;
}

export function customResource(
  definition: KubeObject,
  version: DefinitionVersion,
  { storage, reader, retired }: Parts,
): Resource {
  const row = customRow(definition, version);
  const { versions } = specOf(definition);
  const schema = customSchema(version.schema?.openAPIV3Schema ?? anything, row);
  const apiVersion = apiVersionOf(row);
  const storageVersion = apiVersionOf({ group: row.group, version: row.storageVersion });
  const newer = versions
    .filter(
      ({ name, served, deprecated }) => served && deprecated !== true && compareVersionNames(name, row.version) < 0,
    )
    .toSorted((one, other) => compareVersionNames(one.name, other.name))[0];
  const instead = newer === undefined ? "" : `; use ${row.group}/${newer.name} ${row.kind}`;
  const deprecation = `${apiVersion} ${row.kind} is deprecated${instead}`;
  /** Objects that were stored under an earlier definition, each with its form in this version. */
  const views = new WeakMap<Stored, Stored>();
  const writtenSince = storage.version;

  const written = new Map<string, Schema | undefined>();
  const schemaOf = (stored: string): Schema | undefined =>
    getOrInsert(written, stored, () => {
      const storedVersion = versions.find(({ name }) => stored === apiVersionOf({ group: row.group, version: name }));
      return storedVersion && customSchema(storedVersion.schema?.openAPIV3Schema ?? anything, row);
    });

  /** Drops the fields that the storage version lacks; their managers stay. */
  const asStored = (object: KubeObject): KubeObject => {
    const known = schemaOf(storageVersion);
    if (known === undefined) return object;
    const { object: pruned } = decodeKubeObject(known, object);
    applyDefaults(known, pruned);
    return pruned;
  };

  const view = (stored: readonly Stored[]): readonly Stored[] | Promise<readonly Stored[]> => {
    const others = stored.filter((one) => !isCurrent(one) && !views.has(one));
    const finish = (): readonly Stored[] => stored.map((one) => views.get(one) ?? one);
    if (others.length === 0) return stored.some((one) => views.has(one)) ? finish() : stored;
    const keep = (objects: readonly KubeObject[]): void => {
      for (const [index, one] of others.entries()) {
        const read = objects[index];
        if (read === undefined) continue;
        const { object } = decodeKubeObject(schema, read);
        if (one.object.apiVersion === apiVersion) applyDefaults(schema, object);
        views.set(one, new Stored(one.key, one.version, { object }));
      }
    };
    const objects = structuredClone(others.map(({ object }) => object));
    if (objects.every((object) => object.apiVersion === apiVersion)) {
      keep(objects);
      return finish();
    }
    // The defaults of the storage version are added before any conversion.
    for (const object of objects) {
      const written = object.apiVersion === apiVersion ? undefined : schemaOf(object.apiVersion);
      if (written !== undefined) applyDefaults(written, object);
    }
    return inBatches(objects, (batch) => convertObjects(definition, batch, { apiVersion, reader })).then(
      (converted) => {
        keep(converted);
        return finish();
      },
    );
  };
  const isCurrent = (one: Stored): boolean => one.version > writtenSince && one.object.apiVersion === apiVersion;

  return {
    row,
    apiVersion,
    collection: storage.collection(`${row.group}/${row.plural}`),
    schema,
    behaviour: behaviourOf(row),
    printer: customPrinter(version.additionalPrinterColumns ?? []),
    traits: traitsOf(row),
    hasStatus: version.subresources?.status !== undefined,
    selectablePaths: version.selectableFields?.map(({ jsonPath }) => jsonPath) ?? [],
    scale: scalePaths(version),
    deprecationWarning: version.deprecated === true ? (version.deprecationWarning ?? deprecation) : undefined,
    retired,
    emptyStatus: undefined,
    readsLess: false,
    view,
    toStorage(object) {
      if (apiVersion === storageVersion) return object;
      if (versions.length === 1) return { ...object, apiVersion: storageVersion };
      return convertObjects(definition, [object], { apiVersion: storageVersion, reader }).then(([converted]) =>
        asStored(structuredClone(converted ?? object)),
      );
    },
  };
}
