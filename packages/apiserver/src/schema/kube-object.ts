/** Decodes and encodes whole objects, of built-in and of custom kinds alike. */
import type { KubeObject } from "../hooks.ts";
import { decodeBuiltIn } from "./decode.ts";
import { prune } from "./prune.ts";
import type { Schema } from "./schema.ts";

export interface DecodedObject {
  readonly object: KubeObject;
  /** Why it cannot be decoded, in the server's words. */
  readonly error: string | undefined;
  /** The unknown fields, such as `unknown field "spec.x"`. */
  readonly unknown: readonly string[];
  /** Whether it has empty lists or maps, which storage does not keep. */
  readonly hasEmpty: boolean;
}

/**
 * Decodes an object as its kind: typed and without unknown fields, but with its empty lists and maps. A custom object
 * is changed in place.
 *
 * @param from parsed values have other error messages than text
 */
export function decodeKubeObject(schema: Schema, object: KubeObject, from: "json" | "value" = "json"): DecodedObject {
  if (schema.go === undefined) {
    const { error, unknown } = prune(schema, object);
    return { object, error, unknown, hasEmpty: false };
  }
  const decoded = decodeBuiltIn(schema, object, { from: from === "value" ? "unstructured" : "json", empty: "kept" });
  return { ...decoded, object: decoded.object as KubeObject };
}

/** Returns an object as it is stored: without empty lists and maps, which only built-in kinds lose. */
export function storedForm(schema: Schema, object: KubeObject): KubeObject {
  return schema.go === undefined ? object : (decodeBuiltIn(schema, object).object as KubeObject);
}
