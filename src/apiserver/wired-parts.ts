/** The parts of the server, put together. */
import type { Fields, KubeObject, Printer } from "./hooks.ts";
import { behaviourOf } from "./validation/behaviours.ts";
import type { Parts } from "./parts.ts";
import { jsonPatch } from "./patch/json-patch.ts";
import { strategicMergePatch } from "./patch/strategic-merge-patch.ts";
import { mergePatch } from "./patch/merge-patch.ts";
import { serverSideApply } from "./patch/server-side-apply.ts";
import { updateManagedFields } from "./patch/update-managed-fields.ts";
import { decodeProtobuf, hasProtobuf } from "./protobuf/decode.ts";
import { decodeBuiltIn } from "./schema/decode.ts";
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

const interim = { interim: true };

function fillDefaults(schema: Schema, value: unknown): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) fillDefaults(schema.items, item);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const fields = value as Fields;
  for (const [name, inner] of schema.properties ?? []) {
    if (fields[name] === undefined && inner.default !== undefined && typeof inner.default !== "object")
      fields[name] = inner.default;
    if (fields[name] !== undefined) fillDefaults(inner, fields[name]);
  }
}

const age: Printer = {
  columns: [
    { name: "Name", type: "string", format: "name", description: "", priority: 0 },
    { name: "Age", type: "date", format: "", description: "", priority: 0 },
  ],
  cells: ({ metadata }, now) => [
    metadata.name,
    `${Math.floor((now - Date.parse(metadata.creationTimestamp ?? "")) / 1000)}s`,
  ],
};

export const wiredParts: Parts = {
  schemas: {
    rows: builtInRows,
    builtIn: builtInSchema,
    custom: () => interim,
    decode(schema, object) {
      if (schema === interim) return { object, error: undefined, unknown: [] };
      const decoded = decodeBuiltIn(schema as Schema, object);
      return { ...decoded, object: decoded.object as KubeObject };
    },
    applyDefaults(schema, object) {
      if (schema !== interim) fillDefaults(schema as Schema, object);
    },
    validate: () => [],
    openApiV3,
    openApiV3Paths,
    openApiV3Hash,
    openApiV2,
    openApiV2Protobuf,
  },
  patches: {
    json: (object, operations) => jsonPatch(object, operations) as KubeObject,
    merge: (object, patch) => mergePatch(object, patch) as KubeObject,
    strategic: (schema, object, patch) => strategicMergePatch(schema as Schema, object, patch) as KubeObject,
    apply: (request) =>
      request.schema === interim
        ? (mergePatch(request.live ?? {}, request.applied) as KubeObject)
        : serverSideApply({ ...request, schema: request.schema as Schema }).object,
    updateManagedFields: (request) =>
      request.schema === interim ? request.next : updateManagedFields({ ...request, schema: request.schema as Schema }),
  },
  protobuf(row) {
    if (row.custom || !hasProtobuf(row)) return undefined;
    return (bytes) => decodeProtobuf(bytes, builtInSchema);
  },
  behaviourOf,
  createAdmission: () => ({ mutate: () => undefined, validate: () => undefined }),
  convert: (_, objects, apiVersion) => Promise.resolve(objects.map((object) => ({ ...object, apiVersion }))),
  printerOf: () => age,
  customPrinter: () => age,
};
