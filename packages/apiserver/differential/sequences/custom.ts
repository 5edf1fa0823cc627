/** CustomResourceDefinitions: validation, pruning, defaults, CEL, versions, subresources, columns. */
import type { Case } from "../case.ts";
import { definitionOf, definitions } from "../custom-kinds.ts";
import type { Loose, Session } from "../session.ts";

const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };

const specSchema = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 1, maximum: 10 },
    color: { type: "string", enum: ["red", "green"], default: "red" },
    name: { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 5 },
    when: { type: "string", format: "date-time" },
    ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
    port: { "x-kubernetes-int-or-string": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    tags: { type: "array", items: { type: "string", maxLength: 20 }, "x-kubernetes-list-type": "set", maxItems: 3 },
    parts: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key"],
      items: {
        type: "object",
        required: ["key"],
        properties: { key: { type: "string" }, value: { type: "integer", default: 7 } },
      },
    },
    map: { type: "object", additionalProperties: { type: "integer" }, maxProperties: 2 },
    nothing: { type: "string", nullable: true },
    nested: { type: "object", default: {}, properties: { depth: { type: "integer", default: 3 } } },
    fixed: {
      type: "string",
      maxLength: 20,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "is fixed" }],
    },
  },
  "x-kubernetes-validations": [
    { rule: "!has(self.name) || self.size < 9", message: "a named one is small" },
    {
      rule: "!has(self.tags) || self.tags.all(t, t.startsWith('t'))",
      messageExpression: "self.size > 5 ? 'large' : 'small'",
      reason: "FieldValueForbidden",
      fieldPath: ".tags",
    },
  ],
};

function definition(group: string, version: object = {}): Loose {
  const status = { type: "object", properties: { replicas: { type: "integer" }, state: { type: "string" } } };
  return definitionOf({
    group,
    plural: "widgets",
    kind: "Widget",
    names: { singular: "widget", shortNames: ["wd"], categories: ["all"] },
    schema: { type: "object", properties: { spec: specSchema, status } },
    version: {
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" },
      },
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How large" },
        { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
      selectableFields: [{ jsonPath: ".spec.color" }],
      ...version,
    },
  });
}

async function establish(session: Session, body: Loose): Promise<void> {
  await session.quietly("POST", definitions, body);
  await session.waitFor(`${definitions}/${body.metadata.name}`, ({ status }) =>
    status?.conditions?.some((each: Loose) => each.type === "Established" && each.status === "True"),
  );
  await session.createNamespace();
  const { group, versions } = body.spec;
  await session.waitFor(
    `/apis/${group}/${versions[0].name}/namespaces/${session.slug}/widgets`,
    ({ kind }) => kind === "WidgetList",
  );
  // kube-apiserver serves a definition a moment after its condition says so, and uses its schema another moment later.
  await Bun.sleep(300);
}

const invalid: Readonly<Record<string, unknown>> = {
  "no spec": undefined,
  "an empty spec": {},
  "a size too small": { size: 0 },
  "a size too large": { size: 11 },
  "a size that is text": { size: "1" },
  "a size with a fraction": { size: 1.5 },
  "an unknown color": { size: 1, color: "blue" },
  "a bad name": { size: 1, name: "X" },
  "a long name": { size: 1, name: "abcdefgh" },
  "a bad time": { size: 1, when: "today" },
  "a bad ratio": { size: 1, ratio: 0.3 },
  "a ratio of nothing": { size: 1, ratio: 0 },
  "a port that is a list": { size: 1, port: [] },
  "a tag twice": { size: 1, tags: ["t", "t"] },
  "many tags": { size: 1, tags: ["t1", "t2", "t3", "t4"] },
  "a part twice": { size: 1, parts: [{ key: "a" }, { key: "a" }] },
  "a part without a key": { size: 1, parts: [{ value: 1 }] },
  "a map of texts": { size: 1, map: { a: "x" } },
  "a large map": { size: 1, map: { a: 1, b: 2, c: 3 } },
  "null where it may not be": { size: 1, name: null },
  "a name and a large size": { size: 9, name: "ab" },
  "tags of another letter": { size: 2, tags: ["x"] },
  "a list for the spec": [],
};

/** Changes of the spec of a definition, or of the schema in it, that are refused. */
const wrong: Readonly<Record<string, (definition: Loose, schema: Loose) => void>> = {
  "another name": (spec) => (spec.group = "other.example.test"),
  "no storage version": (spec) => (spec.versions[0].storage = false),
  "a scope of no kind": (spec) => (spec.scope = "Nope"),
  "no schema": (spec) => delete spec.versions[0].schema,
  "a type of no kind": (_, { properties }) => (properties.size = { type: "nope" }),
  "no type": (_, { properties }) => (properties.size = {}),
  "a bad pattern": (_, { properties }) => (properties.name.pattern = "("),
  "a bad default": (_, { properties }) => (properties.color.default = "blue"),
  "a bad rule": (_, schema) => (schema["x-kubernetes-validations"][0].rule = "self.nope +"),
  "a rule of an unknown field": (_, schema) => (schema["x-kubernetes-validations"][0].rule = "self.nope == 1"),
  "a set of objects": (_, { properties }) => (properties.tags.items = { type: "object" }),
  "a column without a path": (spec) => delete spec.versions[0].additionalPrinterColumns[0].jsonPath,
  "names in upper case": (spec) => (spec.names.plural = "Widgets"),
  "a webhook without a client": (spec) => (spec.conversion = { strategy: "Webhook" }),
  "two storage versions": (spec) => spec.versions.push({ ...spec.versions[0], name: "v2" }),
};

export const custom: readonly Case[] = [
  {
    name: "custom schemas",
    run: async (session) => {
      const group = "schemas.example.test";
      await establish(session, definition(group));
      const path = `/apis/${group}/v1/namespaces/${session.slug}/widgets`;
      const widget = (name: string, spec: unknown, more: object = {}) => ({
        apiVersion: `${group}/v1`,
        kind: "Widget",
        metadata: { name },
        spec,
        ...more,
      });
      for (const [label, spec] of Object.entries(invalid)) {
        await session.post(`create with ${label}`, path, widget("wrong", spec));
      }
      const full = {
        size: 3,
        name: "abc",
        when: "2020-01-02T03:04:05Z",
        ratio: 1.5,
        port: "http",
        free: { any: [1, { x: "y" }] },
        tags: ["t1"],
        parts: [{ key: "a" }, { key: "b", value: 1 }],
        map: { a: 1 },
        nothing: null,
        fixed: "f",
      };
      await session.post("create the full one", path, widget("full", full, { status: { state: "x" }, unknown: 1 }));
      await session.post(
        "create with unknown fields, strictly",
        `${path}?fieldValidation=Strict`,
        widget("strict", { size: 1, nope: 1, parts: [{ key: "a", nope: 1 }] }, { other: 1 }),
      );
      await session.post(
        "create with unknown fields, warned",
        `${path}?fieldValidation=Warn`,
        widget("warned", { size: 1, nope: 1, parts: [{ key: "a", nope: 1 }] }, { other: 1 }),
      );
      await session.post(
        "create with unknown fields, ignored",
        `${path}?fieldValidation=Ignore`,
        widget("ignored", { size: 1, nope: 1 }),
      );
      await session.post("create again", path, widget("full", full));
      await session.get("get", `${path}/full`);
      await session.get("list", path);
      await session.send("list as table", "GET", path, { headers: table });
      await session.get("list by a selectable field", `${path}?fieldSelector=spec.color%3Dred`);
      await session.get("list by another field", `${path}?fieldSelector=spec.size%3D1`);
      await session.patch("change what is fixed", `${path}/full`, { spec: { fixed: "g" } });
      await session.patch("change the size", `${path}/full`, { spec: { size: 4 } });
      await session.patch("change nothing", `${path}/full`, { spec: { size: 4 } });
      await session.patch("change the status through the object", `${path}/full`, { status: { state: "y" } });
      await session.patch("change the status", `${path}/full/status`, {
        spec: { size: 5 },
        status: { state: "y", replicas: 2 },
      });
      await session.get("get scale", `${path}/full/scale`);
      await session.patch("scale", `${path}/full/scale`, { spec: { replicas: 6 } });
      await session.patch("scale too far", `${path}/full/scale`, { spec: { replicas: 60 } });
      await session.send("strategic patch", "PATCH", `${path}/full`, {
        headers: { "content-type": "application/strategic-merge-patch+json" },
        body: {},
      });
      await session.patch(
        "apply",
        `${path}/applied?fieldManager=one`,
        widget("applied", { size: 1, parts: [{ key: "a", value: 1 }], tags: ["t1"] }),
        "apply",
      );
      await session.patch(
        "apply more",
        `${path}/applied?fieldManager=two`,
        widget("applied", { size: 1, parts: [{ key: "b", value: 2 }], tags: ["t2"] }),
        "apply",
      );
      await session.patch(
        "apply in conflict",
        `${path}/applied?fieldManager=two`,
        widget("applied", { size: 2, parts: [{ key: "a", value: 5 }] }),
        "apply",
      );
      await session.patch("apply less", `${path}/applied?fieldManager=one`, widget("applied", { size: 1 }), "apply");
      await session.patch(
        "apply an unknown field",
        `${path}/applied?fieldManager=one`,
        widget("applied", { size: 1, nope: 1 }),
        "apply",
      );
      await session.put("put without a version", `${path}/full`, widget("full", full));
      await session.delete("delete", `${path}/full`);
      await session.delete("delete all", path);
      await session.delete("delete the definition", `${definitions}/widgets.${group}`);
    },
  },
  {
    name: "custom versions",
    run: async (session) => {
      const group = "versions.example.test";
      const body = definition(group);
      const open = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
      body.spec.versions = [
        { name: "v1", served: true, storage: true, schema: open },
        { name: "v1beta1", served: true, storage: false, schema: open, deprecated: true },
        {
          name: "v1alpha1",
          served: false,
          storage: false,
          schema: open,
          deprecated: true,
          deprecationWarning: "too old",
        },
      ];
      await establish(session, body);
      const at = (version: string) => `/apis/${group}/${version}/namespaces/${session.slug}/widgets`;
      const widget = (version: string) => ({
        apiVersion: `${group}/${version}`,
        kind: "Widget",
        metadata: { name: "one" },
        x: 1,
      });
      await session.get("discover", `/apis/${group}`);
      await session.get("discover a version", `/apis/${group}/v1`);
      await session.post("create in an older version", at("v1beta1"), widget("v1beta1"));
      await session.post("create in another version than the path's", at("v1"), widget("v1beta1"));
      await session.get("get in the newer version", `${at("v1")}/one`);
      await session.get("get in the older version", `${at("v1beta1")}/one`);
      await session.get("get in one that is not served", `${at("v1alpha1")}/one`);
      await session.get("list in the older version", at("v1beta1"));
      await session.delete("delete", `${at("v1beta1")}/one`);
      await session.quietly("DELETE", `${definitions}/widgets.${group}`);
    },
  },
  {
    name: "custom definitions",
    run: async (session) => {
      for (const [label, change] of Object.entries(wrong)) {
        const copy = structuredClone(definition("wrong.example.test"));
        change(copy.spec, copy.spec.versions[0].schema.openAPIV3Schema.properties.spec);
        await session.post(`define with ${label}`, `${definitions}?dryRun=All`, copy);
      }
    },
  },
];
