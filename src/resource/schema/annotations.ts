/** Reads the `.describe()` and `.meta()` of a schema, including Kubernetes' extensions. */
import { z } from "zod";
import { SchemaProblem, SENSITIVE, type StructuralSchema, type ValidationRule } from "./structural.ts";

/** Kubernetes' extensions of a schema, which `.meta({ … })` sets. */
export interface SchemaExtensions {
  /** CEL rules; `self` is the value that has them. @see https://kubernetes.io/docs/reference/using-api/cel/ */
  readonly rules?: readonly ValidationRule[] | undefined;
  /** Whether the value cannot change once it is set: the rule `self == oldSelf`. */
  readonly immutable?: true | undefined;
  /** How server-side apply merges an array. @default "atomic" */
  readonly listType?: "atomic" | "set" | "map" | undefined;
  /** The fields that identify the items of `listType: "map"`; each is required or has a default. */
  readonly listMapKeys?: readonly string[] | undefined;
  /** How server-side apply merges an object. @default "granular" */
  readonly mapType?: "atomic" | "granular" | undefined;
  /** Whether the value is a whole Kubernetes object, with apiVersion, kind and metadata. */
  readonly embeddedResource?: true | undefined;
  /** Whether unknown fields, which the schema does not name, are kept. */
  readonly preserveUnknownFields?: true | undefined;
  /**
   * Whether Events and logs of runs that read or write the text must not repeat it; in a kind this sets the format
   * `password`, in a configuration, `false` means that a field is not secret although its name suggests it.
   */
  readonly sensitive?: boolean | undefined;
}

declare module "zod" {
  interface GlobalMeta extends SchemaExtensions {}
}

/** Adds the metadata of a zod schema; an outer schema's takes precedence over an inner one's. */
export function annotate(schema: z.core.$ZodType, inner: StructuralSchema, path: string): StructuralSchema {
  const meta = z.globalRegistry.get(schema);
  if (meta === undefined) return inner;
  for (const key of Object.keys(meta)) {
    if (key.startsWith("x-kubernetes-")) {
      throw new SchemaProblem(
        path,
        `.meta() takes rules, immutable, listType, listMapKeys, mapType, embeddedResource, preserveUnknownFields and sensitive, not "${key}"`,
      );
    }
  }
  const rules = [
    ...(inner["x-kubernetes-validations"] ?? []),
    ...validationRules(meta.rules, path),
    ...(meta.immutable ? [{ rule: "self == oldSelf", message: "field is immutable" }] : []),
  ];
  const result: StructuralSchema = {
    ...inner,
    ...(meta.description === undefined ? {} : { description: meta.description }),
    ...(meta.title === undefined ? {} : { title: meta.title }),
    ...(meta.listType === undefined ? {} : { "x-kubernetes-list-type": meta.listType }),
    ...(meta.listMapKeys === undefined ? {} : { "x-kubernetes-list-map-keys": [...meta.listMapKeys] }),
    ...(meta.mapType === undefined ? {} : { "x-kubernetes-map-type": meta.mapType }),
    ...(meta.embeddedResource ? { type: "object", "x-kubernetes-embedded-resource": true } : {}),
    ...(meta.sensitive ? { format: SENSITIVE } : {}),
    ...(meta.preserveUnknownFields ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
  };
  checkExtensions(result, inner, path);
  return result;
}

const ruleKeys = new Set(["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"]);

/** Returns checked copies of rules. */
export function validationRules(rules: unknown, path: string): ValidationRule[] {
  if (rules === undefined) return [];
  if (!Array.isArray(rules)) throw new SchemaProblem(path, "'rules' must be an array of { rule, message }");
  return rules.map((rule: unknown) => {
    if (typeof rule !== "object" || rule === null || typeof (rule as { rule?: unknown }).rule !== "string") {
      throw new SchemaProblem(
        path,
        `a rule must be { rule: "<CEL expression>", message: "…" }: ${JSON.stringify(rule)}`,
      );
    }
    const unknown = Object.keys(rule).find((key) => !ruleKeys.has(key));
    if (unknown !== undefined) {
      throw new SchemaProblem(path, `a rule has no option "${unknown}", it takes ${[...ruleKeys].join(", ")}`);
    }
    const message = (rule as ValidationRule).message;
    if (message !== undefined && /\n|^\s*$/.test(message)) {
      throw new SchemaProblem(path, `the message of a rule must be one line of text: ${JSON.stringify(message)}`);
    }
    return { ...(rule as ValidationRule) };
  });
}

function checkExtensions(schema: StructuralSchema, inner: StructuralSchema, path: string): void {
  const isText = inner.type === "string" && (inner.format === undefined || inner.format === SENSITIVE);
  if (schema.format === SENSITIVE && !isText) {
    throw new SchemaProblem(path, "'sensitive' is for texts without a format of their own");
  }
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"];
  if (listType !== undefined && schema.type !== "array") throw new SchemaProblem(path, "'listType' is for arrays");
  if (schema["x-kubernetes-map-type"] !== undefined && schema.type !== "object") {
    throw new SchemaProblem(path, "'mapType' is for objects");
  }
  if ((schema["x-kubernetes-embedded-resource"] ?? schema["x-kubernetes-preserve-unknown-fields"]) !== undefined) {
    if ((inner.type ?? "object") !== "object") {
      throw new SchemaProblem(path, "'embeddedResource' and 'preserveUnknownFields' are for objects");
    }
  }
  if (keys !== undefined && listType !== "map") throw new SchemaProblem(path, `'listMapKeys' needs listType: "map"`);
  if (listType !== "map") return;
  if (keys === undefined || keys.length === 0) throw new SchemaProblem(path, `listType: "map" needs 'listMapKeys'`);
  for (const key of keys) {
    const field = schema.items?.properties?.[key];
    const isAlwaysThere = schema.items?.required?.includes(key) || field?.default !== undefined;
    if (field === undefined || field.type === "object" || field.type === "array" || !isAlwaysThere) {
      throw new SchemaProblem(
        path,
        `the key "${key}" of 'listMapKeys' must be a required or defaulted plain field of the items`,
      );
    }
  }
}
