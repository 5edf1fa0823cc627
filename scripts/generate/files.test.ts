import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Schema, ServerDocuments } from "./documents.ts";
import { builtinFiles } from "./files.ts";

const ref = (id: string): Schema => ({ default: {}, allOf: [{ $ref: `#/components/schemas/${id}` }] });
const meta = ref("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

function documents(schemas: Record<string, Schema>, scope: "Cluster" | "Namespaced" = "Cluster"): ServerDocuments {
  const gadget = { group: "", version: "v1", kind: "Gadget" };
  const scale = { group: "", version: "v1", kind: "Scale" };
  return {
    version: { major: "1", minor: "36" },
    discovery: {
      items: [
        {
          metadata: {},
          versions: [
            {
              version: "v1",
              resources: [
                {
                  resource: "gadgets",
                  responseKind: gadget,
                  scope,
                  verbs: ["get"],
                  subresources: [{ subresource: "scale", responseKind: scale }],
                },
              ],
            },
            {
              version: "v1alpha1",
              resources: [
                { resource: "toys", responseKind: { ...gadget, kind: "Toy" }, scope: "Cluster", verbs: ["get"] },
              ],
            },
          ],
        },
      ],
    },
    schemas: new Map(
      Object.entries({
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": { properties: { name: { type: "string" } } },
        "io.k8s.api.core.v1.Gadget": {
          "x-kubernetes-group-version-kind": [gadget],
          properties: {
            apiVersion: { type: "string" },
            kind: { type: "string" },
            metadata: meta,
            spec: ref("io.k8s.api.core.v1.GadgetSpec"),
            status: { type: "object" },
          },
        },
        "io.k8s.api.core.v1.Scale": { "x-kubernetes-group-version-kind": [scale], properties: { metadata: meta } },
        "io.k8s.api.core.v1.Unreachable": { properties: {} },
        ...schemas,
      }),
    ),
  };
}

function text(schemas: Record<string, Schema>, scope?: "Cluster" | "Namespaced"): string {
  return builtinFiles(documents(schemas, scope)).get("core.ts")!;
}

test("builtinFiles writes handle, read type and write type of a kind", () => {
  const core = text({ "io.k8s.api.core.v1.GadgetSpec": { properties: { size: { type: "integer" } } } });
  expect(core).toContain('Resource<BuiltinShape<"v1", "Gadget", "Cluster", Gadget, GadgetInput, unknown>> = handle({');
  expect(core).toContain('plural: "gadgets",\n  subresources: ["scale"]');
  expect(core).toMatch(
    /interface Gadget \{[^}]*metadata: ObjectMeta;\n {2}readonly spec: GadgetSpec;\n {2}readonly status\?/,
  );
  expect(core).toMatch(
    /interface GadgetInput \{\n {2}readonly metadata: MetaInput;\n {2}readonly spec\?: GadgetSpec [^;]*;\n\}/,
  );
  expect(core).not.toContain("Unreachable");
  expect(core).not.toContain("Toy");
});

test("what is read of a kind with namespaces has one", () => {
  const schemas = { "io.k8s.api.core.v1.GadgetSpec": { properties: {} } };
  expect(text(schemas, "Namespaced")).toMatch(/interface Gadget \{[^}]*metadata: NamespacedMeta;/);
  expect(text(schemas)).not.toContain("NamespacedMeta");
});

test("builtinFiles requires a spec on write when one of its fields is required, however deep", () => {
  const core = text({
    "io.k8s.api.core.v1.GadgetSpec": { properties: { part: ref("io.k8s.api.core.v1.Part") } },
    "io.k8s.api.core.v1.Part": { required: ["name"], properties: { name: { type: "string" } } },
  });
  expect(core).toMatch(/interface GadgetInput \{[^}]*readonly spec: GadgetSpec;/);
  expect(core).toContain("readonly part: Part;");
});

test("builtinFiles gives a kind that only answers at a subresource types and no handle", () => {
  const core = text({ "io.k8s.api.core.v1.GadgetSpec": { properties: {} } });
  expect(core).toContain("export interface Scale {");
  expect(core).not.toContain("export const Scale");
});

test("builtinFiles writes arrays, maps, enums and awkward names", () => {
  const core = text({
    "io.k8s.api.core.v1.GadgetSpec": {
      properties: {
        "x-size": { type: "string", enum: ["S", "L"] },
        tags: { type: "array", items: { type: "string", enum: ["a"] } },
        parts: { type: "array", items: ref("io.k8s.api.core.v1.Gadget") },
        limits: { type: "object", additionalProperties: { type: "number" } },
        template: meta,
      },
    },
  });
  expect(core).toContain('readonly "x-size"?: "S" | "L" | (string & {}) | undefined;');
  expect(core).toContain('readonly tags?: readonly ("a" | (string & {}))[] | undefined;');
  expect(core).toContain("readonly parts?: readonly NestedGadget[] | undefined;");
  expect(core).toContain("readonly limits?: { readonly [key: string]: number } | undefined;");
  expect(core).toContain("readonly template?: NestedObjectMeta | undefined;");
  expect(core).toContain('export interface NestedGadget {\n  readonly apiVersion?: "v1" | undefined;');
});

test("builtinFiles refuses two types of one name", () => {
  const twice = {
    "io.k8s.api.core.v1.GadgetSpec": { properties: { part: ref("io.k8s.api.apps.v1.Part") } },
    "io.k8s.api.apps.v1.Part": { properties: { part: ref("io.k8s.api.core.v1.Part") } },
    "io.k8s.api.core.v1.Part": { properties: {} },
  };
  expect(() => text(twice)).toThrow(/share the name Part: list one in scripts\/generate\/names\.ts/);
});

test("builtinFiles lets a reader know which fields the server answers with null", () => {
  const files = builtinFiles(
    documents({
      "io.k8s.api.core.v1.GadgetSpec": { properties: { ref: ref("io.k8s.api.core.v1.TypedLocalObjectReference") } },
      "io.k8s.api.core.v1.TypedLocalObjectReference": { properties: { apiGroup: { type: "string" } } },
    }),
  );
  expect(files.get("core.ts")).toContain("readonly apiGroup?: string | null | undefined;");
});

test("builtinFiles makes a schema of each type: its fields, list types with keys, and defaults that mean something", () => {
  const part = {
    required: ["name"],
    properties: { name: { type: "string", default: "" }, mode: { type: "string", default: "rw" } },
  };
  const files = builtinFiles(
    documents({
      "io.k8s.api.core.v1.GadgetSpec": {
        properties: {
          parts: {
            type: "array",
            items: ref("io.k8s.api.core.v1.HTTPPart"),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
          },
          tags: { type: "object", additionalProperties: { type: "integer", format: "int32" } },
        },
      },
      "io.k8s.api.core.v1.HTTPPart": part,
    }),
  );
  const index = files.get("schemas.ts")!;
  expect(index).toContain('export const httpPart: BuiltInSchema<HTTPPart> = builtIn("HTTPPart");');
  expect(index).toContain('export const gadget: BuiltInSchema<TemplateOf<GadgetInput>> = builtIn("Gadget");');
  expect(index).toContain('export const objectMeta: BuiltInSchema<NestedObjectMeta> = builtIn("ObjectMeta");');
  const table = /= `(.*)`/s.exec(files.get("schema-table.ts")!)![1]!;
  expect(JSON.parse(table)).toMatchObject({
    GadgetSpec: {
      fields: { parts: { items: "HTTPPart", list: "map", keys: ["name"] }, tags: { values: "int32" } },
    },
    HTTPPart: { fields: { name: "string", mode: { is: "string", default: "rw" } }, required: ["name"] },
  });
});

test("src/resource/builtin is what the documents of the embedded API server generate", () => {
  const script = join(import.meta.dirname, "../generate-builtin.ts");
  const { stdout } = Bun.spawnSync([process.execPath, script, "--check"]);
  expect(stdout.toString()).toMatch(/changed: none\n$/);
});
