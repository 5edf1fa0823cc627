/** One version of a defined kind: its schema, columns and subresources. */
import type { z } from "zod";
import type { Column, Conversion, Scale, VersionDefinition } from "./definition.ts";
import { validationRules } from "./schema/annotations.ts";
import { convertField } from "./schema/convert.ts";
import { type Field, SchemaProblem, type StructuralSchema, type ValidationRule } from "./schema/structural.ts";
import { ownField } from "./any-key.ts";

/** The content of a version of a kind. */
export interface VersionOptions<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly spec: Spec;
  /** The schema of the status; `observedGeneration` is added to it. @default no other fields */
  readonly status?: Status;
  /** Columns of `kubectl get`, between the name and the age. @default none */
  readonly columns?: readonly Column[];
  /** CEL rules for the whole object, with `self.spec` and `oldSelf.spec`. */
  readonly rules?: readonly ValidationRule[];
  /** The scale subresource, for `kubectl scale` and autoscalers. @default none */
  readonly scale?: Scale;
  /** Fields for field selectors, such as `.spec.color`. @default none */
  readonly selectableFields?: readonly string[];
  /** Whether the API server serves the version. @default true */
  readonly served?: boolean;
  /** Warns users of the version, with these words or the server's own. @default false */
  readonly deprecated?: string | boolean;
}

/** A version, with conversions, before it is checked. */
export interface AnyVersionOptions extends VersionOptions<z.ZodType, z.ZodType> {
  readonly toHub?: Conversion;
  readonly fromHub?: Conversion;
  readonly loses?: readonly string[];
}

/** Checks the names of options. @throws TypeError that names an unknown option, and those that exist. */
export function checkKeys(options: object, known: readonly string[], where = ""): void {
  if (typeof options !== "object" || options === null) throw new TypeError(`'${where}' must be an object`);
  const unknown = Object.keys(options).filter((key) => !known.includes(key));
  if (unknown.length === 0) return;
  const names = unknown.map((key) => `'${where === "" ? "" : `${where}.`}${key}'`).join(", ");
  throw new TypeError(
    `there is no option ${names}: the options${where === "" ? "" : ` of ${where}`} are ${known.join(", ")}`,
  );
}

/** Returns the checked version; `prefix` is the place of its options, for errors. */
export function versionDefinition(name: string, options: AnyVersionOptions, prefix: string): VersionDefinition {
  const schema = rootSchema(options, prefix);
  const { columns = [], scale, selectableFields = [], toHub, fromHub, loses = [] } = options;
  for (const column of columns) checkColumn(column, `${prefix}columns`);
  if (scale !== undefined) {
    checkKeys(scale, ["specReplicas", "statusReplicas", "selector"], `${prefix}scale`);
    checkPath(scale.specReplicas, ".spec.", schema, `${prefix}scale.specReplicas`);
    checkPath(scale.statusReplicas, ".status.", schema, `${prefix}scale.statusReplicas`);
    if (scale.selector !== undefined) checkPath(scale.selector, ".s", schema, `${prefix}scale.selector`);
  }
  for (const path of selectableFields) checkPath(path, ".s", schema, `${prefix}selectableFields`);
  checkLosses(loses, `${prefix}loses`);
  return Object.freeze({
    name,
    schema,
    served: options.served ?? true,
    deprecated: options.deprecated ?? false,
    columns: columns.map((column) => ({ ...column })),
    ...(scale === undefined ? {} : { scale: { ...scale } }),
    selectableFields: [...selectableFields],
    ...(toHub === undefined ? {} : { toHub }),
    ...(fromHub === undefined ? {} : { fromHub }),
    loses: [...loses],
  });
}

/**
 * Checks paths of fields, which may belong to this version or to the hub and are therefore not looked up in the schema.
 */
function checkLosses(paths: unknown, where: string): void {
  if (!Array.isArray(paths)) throw new TypeError(`'${where}' must be a list of paths such as "spec.replicas"`);
  for (const path of paths) {
    if (typeof path === "string" && /^(spec|status)(\.[^.]+)*$/.test(path)) continue;
    throw new TypeError(`'${where}' must be paths such as "spec.replicas": current value is ${JSON.stringify(path)}`);
  }
}

function rootSchema(options: AnyVersionOptions, prefix: string): StructuralSchema {
  const spec = specField(fieldOf(options.spec, `${prefix}spec`));
  const status = statusSchema(options.status, `${prefix}status`);
  const rules = validationRules(options.rules, `${prefix}rules`);
  return {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: spec.schema,
      status,
    },
    ...(spec.optional ? {} : { required: ["spec"] }),
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
  };
}

function fieldOf(schema: unknown, path: string): Field {
  if (typeof schema !== "object" || schema === null || !("_zod" in schema)) {
    throw new SchemaProblem(path, 'must be a zod schema, such as z.object({ … }) with `import { z } from "binnacle"`');
  }
  const field = convertField(schema as z.core.$ZodType, path);
  if (field.schema.nullable || field.schema.type !== "object") {
    throw new SchemaProblem(path, "must be an object: z.object({ … }), or z.looseObject({}) for any fields");
  }
  return field;
}

/** A spec that may be empty may also be left out; the server then adds it, so that it is present on every read. */
function specField(field: Field): Field {
  const { schema, optional } = field;
  if (optional || (schema.required?.length ?? 0) > 0 || schema.oneOf !== undefined) return field;
  if (schema["x-kubernetes-validations"]?.some(({ rule }) => !/\boldSelf\b/.test(rule))) return field;
  return { schema: { ...schema, default: {} }, optional: true };
}

function statusSchema(status: unknown, path: string): StructuralSchema {
  const observedGeneration: StructuralSchema = {
    type: "integer",
    format: "int64",
    description: "The generation of the object that this status describes.",
  };
  if (status === undefined) return { type: "object", properties: { observedGeneration } };
  const { schema } = fieldOf(status, path);
  if (schema.additionalProperties !== undefined)
    throw new SchemaProblem(path, "must be an object with named fields: z.object({ … })");
  return { ...schema, properties: { observedGeneration, ...schema.properties } };
}

const columnTypes = ["string", "integer", "number", "boolean", "date"];

function checkColumn(column: Column, where: string): void {
  checkKeys(column, ["name", "type", "path", "format", "description", "priority"], where);
  const { name, type, path } = column;
  if (typeof name !== "string" || name === "") throw new TypeError(`'${where}' must each have a 'name'`);
  if (!columnTypes.includes(type)) {
    throw new TypeError(
      `the type of column "${name}" must be one of ${columnTypes.join(", ")}: current value is ${JSON.stringify(type)}`,
    );
  }
  if (typeof path !== "string" || !/^\.\w/.test(path)) {
    throw new TypeError(
      `the path of column "${name}" must be such as ".status.phase": current value is ${JSON.stringify(path)}`,
    );
  }
}

/** Allows only simple paths, such as `.spec.replicas`, to a field of the schema. */
function checkPath(path: string, prefix: string, root: StructuralSchema, where: string): void {
  const names = path.split(".").slice(1);
  if (!path.startsWith(prefix) || !names.every((name) => /^\w+$/.test(name))) {
    throw new TypeError(
      `'${where}' must be such as "${prefix === ".s" ? ".spec." : prefix}replicas": current value is ${JSON.stringify(path)}`,
    );
  }
  let schema: StructuralSchema | undefined = root;
  for (const name of names) {
    if (schema?.["x-kubernetes-preserve-unknown-fields"]) return;
    schema = ownField(schema?.properties ?? {}, name);
  }
  if (schema === undefined)
    throw new TypeError(`'${where}' must name a field of the schema: there is no ${JSON.stringify(path)}`);
}
