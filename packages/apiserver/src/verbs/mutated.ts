/** Decodes an object again after admission changed it, and adds its defaults. */
import type { KubeObject } from "../hooks.ts";
import type { SchemaHandle, Schemas } from "../machinery.ts";
import { StatusError } from "../status.ts";

/** Decodes the object. @throws StatusError 500 when it is not an object of the kind any more */
export function decodedAgain(schemas: Schemas, schema: SchemaHandle, changed: KubeObject): KubeObject {
  const { object, error } = schemas.decode(schema, changed, "json");
  if (error !== undefined) {
    const message = `Internal error occurred: ${error}`;
    throw new StatusError(500, "InternalError", { message, details: { causes: [{ message: error }] } });
  }
  schemas.applyDefaults(schema, object);
  return object;
}
