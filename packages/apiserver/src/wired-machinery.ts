/** The machinery of the server, wired from the folders beside it. */
import { createAdmission } from "./admission/admission.ts";
import { convertObjects } from "./admission/conversion.ts";
import type { KubeObject } from "./hooks.ts";
import { customPrinter, printerOf } from "./printers/printers.ts";
import type { FieldError } from "./field-error.ts";
import { behaviourOf } from "./validation/behaviours.ts";
import { Field } from "./validation/field.ts";
import { dnsSubdomain } from "./validation/formats.ts";
import { validateMetadata } from "./validation/metadata.ts";
import type { ApplyRequest, Machinery } from "./machinery.ts";
import { jsonPatch, jsonPatchStrictErrors } from "./patch/json-patch.ts";
import { strategicMergePatch } from "./patch/strategic-merge-patch.ts";
import { layOver } from "./patch/lay-over.ts";
import { mergePatch } from "./patch/merge-patch.ts";
import { scaledEntries, scaleEntries } from "./patch/scale-managers.ts";
import { serverSideApply } from "./patch/server-side-apply.ts";
import { updateManagedFields, updateManagedFieldsOfEmpty, type VersionOptions } from "./patch/update-managed-fields.ts";
import { decodeProtobuf, hasProtobuf } from "./protobuf/decode.ts";
import { customSchema } from "./schema/custom.ts";
import { decodeBuiltIn } from "./schema/decode.ts";
import { applyDefaults } from "./schema/defaults.ts";
import { prune } from "./schema/prune.ts";
import { validate } from "./schema/validate.ts";
import type { Schema } from "./schema/schema.ts";
import {
  builtInRows,
  builtInSchema,
  openApiV2,
  openApiV2Protobuf,
  openApiV3,
  openApiV3Hash,
  openApiV3Paths,
} from "./tables/tables.ts";

export const wiredMachinery: Machinery = {
  schemas: {
    rows: builtInRows,
    builtIn: builtInSchema,
    custom: customSchema,
    decode(handle, object, from) {
      const schema = handle as Schema;
      if (schema.go === undefined) {
        const { error, unknown } = prune(schema, object);
        return { object, error, unknown, hasEmpty: false };
      }
      const decoded = decodeBuiltIn(schema, object, {
        from: from === "value" ? "unstructured" : "json",
        empty: "kept",
      });
      return { ...decoded, object: decoded.object as KubeObject };
    },
    stored(handle, object) {
      const schema = handle as Schema;
      return schema.go === undefined ? object : (decodeBuiltIn(schema, object).object as KubeObject);
    },
    applyDefaults: (schema, object) => applyDefaults(schema as Schema, object),
    validate: (schema, object, options) => validate(schema as Schema, object, options),
    openApiV3,
    openApiV3Paths,
    openApiV3Hash,
    openApiV2,
    openApiV2Protobuf,
  },
  patches: {
    strictErrors: jsonPatchStrictErrors,
    json: (object, operations) => jsonPatch(object, operations) as KubeObject,
    merge: (object, patch) => mergePatch(object, patch) as KubeObject,
    strategic: (schema, object, patch) => strategicMergePatch(schema as Schema, object, patch) as KubeObject,
    apply: (request) => serverSideApply({ ...request, ...typed(request) }).object,
    lay: (schema, object, over) => layOver(schema as Schema, object, over),
    updateManagedFields(request) {
      const options = { ...request, ...typed(request) };
      return request.hasEmpty === true && options.schema.go
        ? updateManagedFieldsOfEmpty(options)
        : updateManagedFields(options);
    },
    scaleEntries,
    scaledEntries,
  },
  protobuf(row) {
    if (row.custom || !hasProtobuf(row)) return undefined;
    return (bytes) => decodeProtobuf(bytes, builtInSchema);
  },
  behaviourOf,
  validateMetadata(object) {
    const errors: FieldError[] = [];
    const row = { group: "", plural: "", namespaced: true, custom: false };
    validateMetadata(new Field("metadata", object.metadata, { errors }), { row, format: dnsSubdomain });
    return errors;
  },
  createAdmission,
  convert: convertObjects,
  printerOf,
  customPrinter,
};

type Convert = NonNullable<VersionOptions["convert"]>;

/** The handles of a request as this part's schemas. */
function typed({ schema, convert }: Pick<ApplyRequest, "schema" | "convert">): {
  schema: Schema;
  convert: Convert | undefined;
} {
  return { schema: schema as Schema, convert: convert as Convert | undefined };
}
