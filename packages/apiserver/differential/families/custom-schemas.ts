/** Custom resources: validation, defaults, pruning and rules of every kind of schema, and the definitions that are refused. */
import { type Family, type Probe } from "./family.ts";

const group = "schemas.example.test";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const rule = (text: string, more: object = {}): object => ({ "x-kubernetes-validations": [{ rule: text, ...more }] });

const properties: Readonly<Record<string, object>> = {
  short: { type: "string", maxLength: 3, minLength: 2 },
  pattern: { type: "string", pattern: "^[a-z]+$" },
  choice: { type: "string", enum: ["a", "b"] },
  nullable: { type: "string", nullable: true },
  preset: { type: "string", default: "x" },
  presetObject: {
    type: "object",
    default: { a: "1" },
    properties: { a: { type: "string" }, b: { type: "string", default: "2" } },
  },
  nullablePreset: { type: "string", nullable: true, default: "y" },
  items: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", minLength: 1 } },
  unique: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
  keyed: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "port"],
    items: {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string" },
        port: { type: "integer", default: 80 },
        weight: { type: "integer", maximum: 10 },
      },
    },
  },
  atomic: {
    type: "array",
    "x-kubernetes-list-type": "atomic",
    items: { type: "object", properties: { a: { type: "string" } } },
  },
  map: { type: "object", additionalProperties: { type: "integer", minimum: 0 }, maxProperties: 2, minProperties: 1 },
  atomicMap: {
    type: "object",
    "x-kubernetes-map-type": "atomic",
    properties: { a: { type: "string" }, b: { type: "string" } },
  },
  date: { type: "string", format: "date-time" },
  day: { type: "string", format: "date" },
  duration: { type: "string", format: "duration" },
  email: { type: "string", format: "email" },
  ip: { type: "string", format: "ipv4" },
  cidr: { type: "string", format: "cidr" },
  uuid: { type: "string", format: "uuid" },
  uri: { type: "string", format: "uri" },
  host: { type: "string", format: "hostname" },
  bytes: { type: "string", format: "byte" },
  label: { type: "string", format: "k8s-short-name" },
  flag: { type: "boolean" },
  whole: { type: "integer", minimum: 1, maximum: 9 },
  either: { "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%?$" },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: { type: "string" } } },
  embedded: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  oneOf: {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    oneOf: [{ required: ["a"] }, { required: ["b"] }],
  },
  anyOf: {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
  },
  allOf: { type: "string", allOf: [{ minLength: 2 }, { maxLength: 4 }] },
  not: { type: "string", not: { enum: ["bad"] } },
  nested: {
    type: "object",
    required: ["a", "b"],
    properties: {
      a: { type: "object", required: ["c"], properties: { c: { type: "string" } } },
      b: { type: "string" },
    },
  },
  ruled: {
    type: "object",
    properties: { min: { type: "integer" }, max: { type: "integer" } },
    ...rule("!has(self.min) || !has(self.max) || self.min <= self.max", {
      messageExpression: "self.min > 100 ? 'far above' : 'above'",
      reason: "FieldValueForbidden",
      fieldPath: ".min",
    }),
  },
  immutable: { type: "string", ...rule("self == oldSelf", { message: "is immutable" }) },
  optionalOld: {
    type: "integer",
    ...rule("!oldSelf.hasValue() || self >= oldSelf.value()", { message: "may only grow", optionalOldSelf: true }),
  },
  listRule: {
    type: "array",
    maxItems: 5,
    items: { type: "string", maxLength: 10, ...rule("self != 'x'", { reason: "FieldValueDuplicate" }) },
    ...rule("self.all(i, i.size() < 5)"),
  },
  mapRule: {
    type: "object",
    maxProperties: 3,
    additionalProperties: { type: "string", maxLength: 9, ...rule("self.startsWith('a')") },
    ...rule("size(self) < 3", { reason: "FieldValueRequired" }),
  },
  failing: { type: "string", ...rule("int(self) > 0") },
  divided: { type: "integer", ...rule("10 / self > 1") },
  quantity: { type: "string", ...rule("isQuantity(self) && quantity(self).isLessThan(quantity('1Gi'))") },
};

const values: Readonly<Record<string, readonly unknown[]>> = {
  short: ["a", "ab", "abcd", "äöü", "", 1, null, ["a"], {}],
  pattern: ["abc", "Abc", "", "a\n"],
  choice: ["a", "c", "", null],
  nullable: [null, "x", 1],
  preset: [null, "y", ""],
  presetObject: [null, {}, { a: null }, { b: null, c: 1 }, []],
  nullablePreset: [null, "z"],
  items: [[], ["a"], ["", "a"], ["a", "b", "c", "d"], "a", [null], [1], null],
  unique: [
    ["a", "b"],
    ["a", "a"],
    ["a", "b", "a", "b"],
  ],
  keyed: [
    [{ name: "a" }],
    [{ name: "a" }, { name: "a", port: 80 }],
    [
      { name: "a", port: 1 },
      { name: "a", port: 2 },
    ],
    [{}],
    [{ port: 1 }],
    [
      { name: "a", weight: 11 },
      { name: "b", weight: "x" },
    ],
    [null],
  ],
  atomic: [[{ a: "1" }, { a: "1" }], [{ b: 1 }], [null, {}]],
  map: [{}, { a: 1 }, { a: -1 }, { a: 1, b: 2, c: 3 }, { a: "x" }, { a: null }, []],
  atomicMap: [{ a: "1" }, { a: null, b: "2" }, { c: 1 }],
  date: ["2020-01-01T00:00:00Z", "2020-01-01", "2020-13-01T00:00:00Z", "2020-01-01t00:00:00.5+01:00", "x"],
  day: ["2020-01-01", "2020-1-1", "2020-02-30"],
  duration: ["1h", "1d", "P1D", "1.5h", "-1m", "x", "1 h"],
  email: ["a@b.c", "a", "A <a@b.c>"],
  ip: ["1.2.3.4", "01.2.3.4", "::1", "1.2.3"],
  cidr: ["1.2.3.4/8", "1.2.3.4", "1.2.3.4/33", "::/0"],
  uuid: ["123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000", "x"],
  uri: ["http://a/b", "a", "/a", "http://", "://"],
  host: ["a.b", "A_b", "-a"],
  bytes: ["YQ==", "YQ", "*"],
  label: ["abc", "a.b", "A"],
  flag: [true, "true", 1, null],
  whole: [1, 0, 10, 1.5, "1", true, -1],
  either: [1, "1", "1%", "x", 1.5, true, -1],
  free: [{ known: 1 }, { known: "x", other: { a: [1, null] } }, "x", null],
  embedded: [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
    {},
    { kind: "x" },
    { apiVersion: "v1", kind: "A", metadata: { name: "B_" } },
    { apiVersion: "a/b/c", kind: "A", metadata: { labels: { a: 1 } } },
    { apiVersion: "v1", kind: "A", nope: 1, metadata: { nope: 1 } },
  ],
  oneOf: [{}, { a: "1" }, { a: "1", b: "1" }],
  anyOf: [{}, { a: "1", b: "1" }],
  allOf: ["a", "abc", "abcde"],
  not: ["bad", "good"],
  nested: [{}, { a: {} }, { a: { c: "1" }, b: "2" }, { a: null, b: null }],
  ruled: [{ min: 1, max: 2 }, { min: 3, max: 2 }, {}, { min: "x", max: 1 }],
  immutable: ["a", "b"],
  optionalOld: [1, 5, 3],
  listRule: [["a", "x"], ["abcdef", "x"], ["a".repeat(11)], ["a", "b", "c", "d", "e", "f"]],
  mapRule: [{ a: "a" }, { a: "b", b: "c" }, { a: "a", b: "a", c: "a" }, { a: "a".repeat(10) }],
  failing: ["1", "x", "["],
  divided: [0, 1, 5, 20],
  quantity: ["1Mi", "2Gi", "x", ""],
};

async function define(probe: Probe, plural: string, more: object = {}): Promise<void> {
  const spec = { type: "object", properties };
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1)}`;
  await probe.quietly("POST", definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec, ...more } } },
        },
      ],
    },
  });
  await probe.session.waitFor(`/apis/${group}/v1/${plural}`, (list) => list?.kind === `${kind}List`);
  await probe.session.noticed(300);
}

const headersOf = (type: string): Record<string, string> => ({ "content-type": `application/${type}` });

async function schemas(probe: Probe): Promise<void> {
  await probe.createNamespace();
  await define(probe, "things");
  const collection = `/apis/${group}/v1/namespaces/${probe.namespace}/things`;
  const thing = (name: string, spec: unknown): object => ({
    apiVersion: `${group}/v1`,
    kind: "Things",
    metadata: { name },
    spec,
  });
  await probe.quietly("POST", collection, thing("base", { immutable: "a", optionalOld: 4 }));
  for (const [field, list] of Object.entries(values)) {
    for (const value of list) {
      const label = `${field} of ${JSON.stringify(value).slice(0, 60)}`;
      const spec = { [field]: value };
      await probe.send(`create ${label}`, "POST", `${collection}?dryRun=All`, { body: thing("new", spec) });
      await probe.send(`strictly ${label}`, "POST", `${collection}?dryRun=All&fieldValidation=Strict`, {
        body: thing("new", spec),
      });
      await probe.send(`put ${label}`, "PUT", `${collection}/base?dryRun=All`, { body: thing("base", spec) });
      await probe.send(`merge ${label}`, "PATCH", `${collection}/base?dryRun=All`, {
        body: { spec },
        headers: headersOf("merge-patch+json"),
      });
      await probe.send(`apply ${label}`, "PATCH", `${collection}/base?dryRun=All&fieldManager=m`, {
        body: thing("base", spec),
        headers: headersOf("apply-patch+yaml"),
      });
      await probe.send(`add ${label}`, "PATCH", `${collection}/base?dryRun=All`, {
        body: [{ op: "add", path: `/spec/${field}`, value }],
        headers: headersOf("json-patch+json"),
      });
    }
  }
  for (const spec of [undefined, null, "x", [], 1, {}])
    await probe.send(`spec of ${JSON.stringify(spec)}`, "POST", `${collection}?dryRun=All`, {
      body: thing("new", spec),
    });
}

/** Objects that were stored before the schema became stricter are let through where they do not change. */
async function ratcheting(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const plural = "ratchets";
  const name = `${plural}.${group}`;
  const versions = (spec: object): object[] => [
    { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } },
  ];
  const loose = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await probe.quietly("POST", definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: plural, kind: "Ratchets", listKind: "RatchetsList" },
      versions: versions(loose),
    },
  });
  await probe.session.waitFor(`/apis/${group}/v1/${plural}`, (list) => list?.kind === "RatchetsList");
  const collection = `/apis/${group}/v1/namespaces/${probe.namespace}/${plural}`;
  const olds: Record<string, unknown> = {
    short: "abcdef",
    pattern: "ABC",
    choice: "z",
    items: [],
    unique: ["a", "a"],
    keyed: [{ name: "a", weight: 11 }, { name: "b" }],
    map: { a: -1, b: 2, c: 3 },
    date: "x",
    ip: "x",
    whole: 100,
    either: "x",
    oneOf: {},
    anyOf: {},
    nested: { a: {} },
    ruled: { min: 3, max: 1 },
    listRule: ["x", "abcdef"],
    mapRule: { a: "b" },
    not: "bad",
    allOf: "a",
    flag: "true",
  };
  for (const [field, value] of Object.entries(olds))
    await probe.quietly("POST", collection, {
      apiVersion: `${group}/v1`,
      kind: "Ratchets",
      metadata: { name: field.toLowerCase() },
      spec: { [field]: value },
    });
  await probe.merge(`${definitions}/${name}`, { spec: { versions: versions({ type: "object", properties }) } });
  await probe.session.noticed(1500);
  for (const [field, value] of Object.entries(olds)) {
    const path = `${collection}/${field.toLowerCase()}`;
    await probe.send(`read ${field}`, "GET", path);
    await probe.send(`label ${field}`, "PATCH", `${path}?dryRun=All`, {
      body: { metadata: { labels: { a: "1" } } },
      headers: headersOf("merge-patch+json"),
    });
    await probe.send(`beside ${field}`, "PATCH", `${path}?dryRun=All`, {
      body: { spec: { flag: true } },
      headers: headersOf("merge-patch+json"),
    });
    for (const [index, other] of (values[field] ?? []).entries())
      await probe.send(`change ${field} to ${index}`, "PATCH", `${path}?dryRun=All`, {
        body: { spec: { [field]: other } },
        headers: headersOf("merge-patch+json"),
      });
    if (Array.isArray(value))
      await probe.send(`lengthen ${field}`, "PATCH", `${path}?dryRun=All`, {
        body: { spec: { [field]: [...(value as unknown[]), ...(value as unknown[]), "new"] } },
        headers: headersOf("merge-patch+json"),
      });
    await probe.send(`apply ${field}`, "PATCH", `${path}?dryRun=All&fieldManager=m&force=true`, {
      body: {
        apiVersion: `${group}/v1`,
        kind: "Ratchets",
        metadata: { name: field.toLowerCase() },
        spec: { [field]: value, preset: "n" },
      },
      headers: headersOf("apply-patch+yaml"),
    });
  }
}

export const customSchemas: readonly Family[] = [
  { name: "schemas", run: schemas },
  { name: "ratcheting", run: ratcheting },
];
