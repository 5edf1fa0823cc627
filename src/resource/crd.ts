/** Makes CustomResourceDefinitions of the resources that modules define. */
import { CustomResourceDefinition, type JSONSchemaProps } from "./builtin/apiextensions.ts";
import { type Column, definitionOf, type ResourceDefinition, type VersionDefinition } from "./definition.ts";
import { type Desired, groupKind, type Resource } from "./handle.ts";

type ShapeOfCrd = typeof CustomResourceDefinition extends Resource<infer S> ? S : never;

/** A CustomResourceDefinition to be written. */
export type Crd = Desired<ShapeOfCrd>;

/**
 * Returns the CustomResourceDefinition of a resource: equal definitions give equal text, whatever the order of their
 * fields.
 *
 * For a kind with several versions it contains no conversion; `withConversion` adds the webhook.
 *
 * @throws TypeError when the handle does not come from `defineResource`.
 */
export function crdOf(resource: Resource): Crd {
  const definition = definitionOf(resource);
  if (definition === undefined) {
    throw new TypeError(
      `Cannot make a CustomResourceDefinition of ${groupKind(resource)}: it does not come from defineResource()`,
    );
  }
  const { group, names, scope, versions } = definition;
  const ordered = versions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: CustomResourceDefinition.kind,
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, names, scope, versions: ordered.map((version) => versionOf(version, definition)) },
  };
}

type CrdVersion = Crd["spec"]["versions"][number];
type PrinterColumn = NonNullable<CrdVersion["additionalPrinterColumns"]>[number];

function versionOf(version: VersionDefinition, definition: ResourceDefinition): CrdVersion {
  const { name, schema, served, deprecated, columns, scale, selectableFields } = version;
  return {
    name,
    served,
    storage: name === definition.storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === "string" ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: sorted(schema) as JSONSchemaProps },
    subresources: {
      status: {},
      ...(scale === undefined
        ? {}
        : {
            scale: {
              specReplicasPath: scale.specReplicas,
              statusReplicasPath: scale.statusReplicas,
              ...(scale.selector === undefined ? {} : { labelSelectorPath: scale.selector }),
            },
          }),
    },
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: withAge(columns).map(columnOf) }),
    ...(selectableFields.length === 0 ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}

/** Adds the age column, which kubectl shows by itself only if there are no other columns. */
function withAge(columns: readonly Column[]): readonly Column[] {
  if (columns.some(({ name }) => name.toLowerCase() === "age")) return columns;
  return [...columns, { name: "Age", type: "date", path: ".metadata.creationTimestamp" }];
}

function columnOf({ name, type, path, format, description, priority }: Column): PrinterColumn {
  return {
    name,
    type,
    jsonPath: path,
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined ? {} : { priority }),
  };
}

/** Returns the same JSON with the fields of every object sorted; `undefined` is left out. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, item]) => [name, sorted(item)]));
}
