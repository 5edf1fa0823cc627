/** Decodes an object again after admission changed it, and adds its defaults. */
import type { KubeObject } from "../hooks.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { decodeKubeObject } from "../schema/kube-object.ts";
import type { Schema } from "../schema/schema.ts";
import { StatusError } from "../status.ts";

/** Decodes the object. @throws StatusError 500 when it is not an object of the kind any more */
export function decodedAgain(schema: Schema, changed: KubeObject): KubeObject {
  const { object, error } = decodeKubeObject(schema, changed);
  if (error !== undefined) {
    const message = `Internal error occurred: ${error}`;
    throw new StatusError(500, "InternalError", { message, details: { causes: [{ message: error }] } });
  }
  applyDefaults(schema, object);
  return object;
}
