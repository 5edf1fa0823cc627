/** Compares what the server says about objects and definitions with a real kube-apiserver. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { assets, type ControlPlane, lendPlane } from "../../../../tests/support/control-plane.ts";
import { causeReason, errorBody, type FieldError } from "../field-error.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import type { Status } from "../status.ts";
import { builtInRows, builtInSchema } from "../tables/tables.ts";
import { customSchema } from "./custom.ts";
import { decodeBuiltIn } from "./decode.ts";
import { applyDefaults } from "./defaults.ts";
import { validateDefinition } from "./definition.ts";
import { prune } from "./prune.ts";
import { validate } from "./validate.ts";

const bin = await assets();
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const ruled = {
  type: "object",
  properties: { min: { type: "integer" }, max: { type: "integer" }, size: { type: "string", maxLength: 20 } },
  "x-kubernetes-validations": [
    { rule: "!has(self.min) || !has(self.max) || self.min <= self.max", message: "min is above max" },
    { rule: "!has(self.size) || quantity(self.size).isLessThan(quantity('1Gi'))" },
    { rule: "!has(self.min) || self.max > 0", fieldPath: ".max", reason: "FieldValueForbidden", message: "no max" },
  ],
};

const keyed = { type: "object", required: ["name"], properties: { name: { type: "string" }, v: { type: "integer" } } };

const properties: Fields = {
  i: { type: "integer", minimum: 1, maximum: 10 },
  n: { type: "number", multipleOf: 0.5 },
  s: { type: "string", minLength: 2, maxLength: 4, pattern: "^a+$" },
  e: { type: "string", enum: ["z", "a"] },
  date: { type: "string", format: "date-time" },
  list: { type: "array", items: { type: "string" }, maxItems: 2 },
  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
  keyed: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: keyed,
  },
  map: { type: "object", additionalProperties: { type: "integer", maximum: 5 }, maxProperties: 1 },
  ios: { "x-kubernetes-int-or-string": true },
  kept: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  filled: { type: "object", default: {}, properties: { a: { type: "integer", default: 7 } } },
  one: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" } },
    oneOf: [{ required: ["a"] }, { required: ["b"] }],
  },
  any: { type: "object", properties: { a: { type: "integer" } }, anyOf: [{ required: ["a"] }] },
  ruled,
};

const specs: unknown[] = [
  {},
  { i: 0 },
  { i: "3" },
  { i: 1.5 },
  { i: null },
  { n: 0.7 },
  { s: "a" },
  { s: "aaaaa" },
  { s: "ab" },
  { e: "q" },
  { date: "x" },
  { list: ["a", "b", "c"] },
  { list: ["a", 5] },
  { set: ["a", "a"] },
  { keyed: [{ name: "a" }, { name: "a" }] },
  { keyed: [{}] },
  { map: { a: 6 } },
  { map: { a: 1, b: 1 } },
  { ios: true },
  { ios: 1 },
  { kept: { a: { b: 1 } } },
  { one: {} },
  { one: { a: 1, b: 1 } },
  { any: {} },
  { ruled: { min: 3, max: 2 } },
  { ruled: { min: 3 } },
  { ruled: { min: -1, max: 0 } },
  { ruled: { size: "2Gi" } },
  { ruled: { size: "x" } },
  { unknown: 1, keyed: [{ name: "a", z: 1 }] },
  "x",
  [],
];

function sorted(causes: readonly { reason?: string; message?: string; field?: string }[] | undefined): string[] {
  return (causes ?? []).map(({ reason, message, field }) => JSON.stringify([reason, message, field])).toSorted();
}

function causesOf(errors: readonly FieldError[]): string[] {
  return sorted(
    errors.map((error) => ({ reason: causeReason(error.type), message: errorBody(error), field: error.field })),
  );
}

describe.skipIf(!bin)("schemas against a real kube-apiserver", () => {
  let server: ControlPlane;
  beforeAll(async () => {
    server = await lendPlane(false);
  });
  afterAll(() => server.stop());

  async function send(method: string, path: string, body?: unknown) {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await server.request(path, { ...init, headers: { "content-type": "application/json" } });
    const text = await response.text();
    return {
      code: response.status,
      body: (response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : {}) as Fields,
    };
  }

  test("decodeBuiltIn gives back every object of the server as it is", async () => {
    let count = 0;
    for (const row of builtInRows().filter(({ verbs }) => verbs.includes("list"))) {
      const version = row.group === "" ? `/api/${row.version}` : `/apis/${row.group}/${row.version}`;
      const { body } = await send("GET", `${version}/${row.plural}`);
      for (const item of (body.items ?? []) as Fields[]) {
        const whole = {
          kind: row.kind,
          apiVersion: row.group === "" ? row.version : `${row.group}/${row.version}`,
          ...item,
        };
        expect(JSON.stringify(decodeBuiltIn(builtInSchema(row)!, whole).object)).toBe(JSON.stringify(whole));
        count++;
      }
    }
    expect(count).toBeGreaterThan(100);
  });

  test("decodeBuiltIn refuses what the server refuses", async () => {
    const schema = builtInSchema({ group: "", version: "v1", kind: "Pod" })!;
    const fields: Fields[] = [
      { env: [{ name: "A", value: 3 }] },
      { resources: { limits: { cpu: "abc" } } },
      { resources: { limits: [] } },
      { ports: [{ containerPort: "80" }] },
      { livenessProbe: { httpGet: { port: true } } },
      { livenessProbe: { httpGet: { port: 1, foo: 2 } }, bar: 1 },
    ];
    for (const container of fields) {
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { containers: [container] } };
      const { body } = await send("POST", "/api/v1/namespaces/default/pods?fieldValidation=Strict&dryRun=All", pod);
      const { error, unknown } = decodeBuiltIn(schema, pod);
      expect(error !== undefined || unknown.length > 0).toBe(true);
      const why = error === undefined ? `strict decoding error: ${unknown.join(", ")}` : "";
      expect(body.message).toStartWith(`Pod in version "v1" cannot be handled as a Pod: ${why}`);
    }
  });

  test("custom objects are checked, pruned and filled as the server does", async () => {
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.ex.io" },
      spec: {
        group: "ex.io",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    };
    expect((await send("POST", definitions, definition)).code).toBe(201);
    const path = "/apis/ex.io/v1/namespaces/default/things";
    const probe = { apiVersion: "ex.io/v1", kind: "Thing", metadata: { name: "probe" }, spec: { i: 0 } };
    while ((await send("POST", `${path}?dryRun=All`, probe)).code !== 422) await Bun.sleep(50);
    const schema = customSchema(openAPIV3Schema, { kind: "Thing" });
    for (const spec of specs) {
      const thing: Fields = { apiVersion: "ex.io/v1", kind: "Thing", metadata: { name: "x" }, spec };
      const real = await send("POST", `${path}?dryRun=All&fieldValidation=Strict`, thing);
      const mine = structuredClone(thing);
      const { unknown } = prune(schema, mine);
      const { message, details } = real.body as unknown as Status;
      if (unknown.length > 0) {
        expect(message).toEndWith(`: strict decoding error: ${unknown.join(", ")}`);
        continue;
      }
      applyDefaults(schema, mine);
      const errors = validate(schema, mine);
      expect(causesOf(errors), JSON.stringify(spec)).toEqual(sorted(details?.causes));
      if (errors.length === 0) expect(mine.spec).toEqual(real.body.spec);
    }
  });

  test("validateDefinition finds what the server finds", async () => {
    const schemas: Fields[] = [
      {},
      { type: "foo" },
      { type: "array" },
      { type: "string", anyOf: [{ type: "string" }] },
      { type: "object", not: { properties: { metadata: {} } } },
      { type: "string", pattern: "(" },
      { type: "integer", minimum: 3, default: 1 },
      { type: "object", default: { q: 1 }, properties: { a: { type: "string" } } },
      { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "map" },
      {
        type: "array",
        items: { type: "object", properties: { a: { type: "string" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a"],
      },
      { type: "object", "x-kubernetes-embedded-resource": true },
      { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } },
      { $ref: "#/a" },
      { type: "string", "x-kubernetes-validations": [{ rule: "true", reason: "Foo", fieldPath: "x" }] },
      { type: "string", "x-kubernetes-validations": [{ rule: "true", optionalOldSelf: true }] },
    ];
    for (const x of schemas) {
      const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: { x } } } };
      const definition: KubeObject = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "foos.ex.io" },
        spec: {
          group: "ex.io",
          scope: "Namespaced",
          names: { plural: "foos", singular: "foo", kind: "Foo", listKind: "FooList" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
        },
      };
      const { body } = await send("POST", `${definitions}?dryRun=All`, definition);
      const { details } = body as unknown as Status;
      const causes = (details?.causes ?? []).filter(({ field }) => field !== "status.storedVersions");
      expect(causesOf(validateDefinition(definition)), JSON.stringify(x)).toEqual(sorted(causes));
    }
  });
});
