/** CustomResourceDefinitions: validation, pruning, defaults, CEL, versions, subresources, columns. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";

const merge = { "content-type": "application/merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

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

function definition(group: string, version: object = {}): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", shortNames: ["wd"], categories: ["all"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: specSchema,
                status: { type: "object", properties: { replicas: { type: "integer" }, state: { type: "string" } } },
              },
            },
          },
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
      ],
    },
  };
}

async function establish(session: Session, body: Loose): Promise<void> {
  await session.quietly("POST", definitions, body);
  await session.waitFor(`${definitions}/${body.metadata.name}`, ({ status }) =>
    status?.conditions?.some((each: Loose) => each.type === "Established" && each.status === "True"),
  );
  await session.quietly("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: session.slug },
  });
  const { group, versions } = body.spec;
  await session.waitFor(
    `/apis/${group}/${versions[0].name}/namespaces/${session.slug}/widgets`,
    ({ kind }) => kind === "WidgetList",
  );
  // A definition is served a moment after it says so, and its schema another moment later.
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
        await session.send(`create with ${label}`, "POST", path, { body: widget("wrong", spec) });
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
      await session.send("create the full one", "POST", path, {
        body: widget("full", full, { status: { state: "x" }, unknown: 1 }),
      });
      await session.send("create with unknown fields, strictly", "POST", `${path}?fieldValidation=Strict`, {
        body: widget("strict", { size: 1, nope: 1, parts: [{ key: "a", nope: 1 }] }, { other: 1 }),
      });
      await session.send("create with unknown fields, warned", "POST", `${path}?fieldValidation=Warn`, {
        body: widget("warned", { size: 1, nope: 1, parts: [{ key: "a", nope: 1 }] }, { other: 1 }),
      });
      await session.send("create with unknown fields, ignored", "POST", `${path}?fieldValidation=Ignore`, {
        body: widget("ignored", { size: 1, nope: 1 }),
      });
      await session.send("create again", "POST", path, { body: widget("full", full) });
      await session.send("get", "GET", `${path}/full`);
      await session.send("list", "GET", path);
      await session.send("list as table", "GET", path, { headers: table });
      await session.send("list by a selectable field", "GET", `${path}?fieldSelector=spec.color%3Dred`);
      await session.send("list by another field", "GET", `${path}?fieldSelector=spec.size%3D1`);
      await session.send("change what is fixed", "PATCH", `${path}/full`, {
        headers: merge,
        body: { spec: { fixed: "g" } },
      });
      await session.send("change the size", "PATCH", `${path}/full`, { headers: merge, body: { spec: { size: 4 } } });
      await session.send("change nothing", "PATCH", `${path}/full`, { headers: merge, body: { spec: { size: 4 } } });
      await session.send("change the status through the object", "PATCH", `${path}/full`, {
        headers: merge,
        body: { status: { state: "y" } },
      });
      await session.send("change the status", "PATCH", `${path}/full/status`, {
        headers: merge,
        body: { spec: { size: 5 }, status: { state: "y", replicas: 2 } },
      });
      await session.send("get scale", "GET", `${path}/full/scale`);
      await session.send("scale", "PATCH", `${path}/full/scale`, { headers: merge, body: { spec: { replicas: 6 } } });
      await session.send("scale too far", "PATCH", `${path}/full/scale`, {
        headers: merge,
        body: { spec: { replicas: 60 } },
      });
      await session.send("strategic patch", "PATCH", `${path}/full`, {
        headers: { "content-type": "application/strategic-merge-patch+json" },
        body: {},
      });
      await session.send("apply", "PATCH", `${path}/applied?fieldManager=one`, {
        headers: apply,
        body: widget("applied", { size: 1, parts: [{ key: "a", value: 1 }], tags: ["t1"] }),
      });
      await session.send("apply more", "PATCH", `${path}/applied?fieldManager=two`, {
        headers: apply,
        body: widget("applied", { size: 1, parts: [{ key: "b", value: 2 }], tags: ["t2"] }),
      });
      await session.send("apply in conflict", "PATCH", `${path}/applied?fieldManager=two`, {
        headers: apply,
        body: widget("applied", { size: 2, parts: [{ key: "a", value: 5 }] }),
      });
      await session.send("apply less", "PATCH", `${path}/applied?fieldManager=one`, {
        headers: apply,
        body: widget("applied", { size: 1 }),
      });
      await session.send("apply an unknown field", "PATCH", `${path}/applied?fieldManager=one`, {
        headers: apply,
        body: widget("applied", { size: 1, nope: 1 }),
      });
      await session.send("put without a version", "PUT", `${path}/full`, { body: widget("full", full) });
      await session.send("delete", "DELETE", `${path}/full`);
      await session.send("delete all", "DELETE", path);
      await session.send("delete the definition", "DELETE", `${definitions}/widgets.${group}`);
    },
  },
  {
    name: "custom versions",
    run: async (session) => {
      const group = "versions.example.test";
      const body = definition(group) as Loose;
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
      await session.send("discover", "GET", `/apis/${group}`);
      await session.send("discover a version", "GET", `/apis/${group}/v1`);
      await session.send("create in an older version", "POST", at("v1beta1"), { body: widget("v1beta1") });
      await session.send("create in another version than the path's", "POST", at("v1"), { body: widget("v1beta1") });
      await session.send("get in the newer version", "GET", `${at("v1")}/one`);
      await session.send("get in the older version", "GET", `${at("v1beta1")}/one`);
      await session.send("get in one that is not served", "GET", `${at("v1alpha1")}/one`);
      await session.send("list in the older version", "GET", at("v1beta1"));
      await session.send("delete", "DELETE", `${at("v1beta1")}/one`);
      await session.quietly("DELETE", `${definitions}/widgets.${group}`);
    },
  },
  {
    name: "custom definitions",
    run: async (session) => {
      const wrong: Readonly<Record<string, (spec: Loose) => void>> = {
        "another name": (spec) => void (spec.group = "other.example.test"),
        "no storage version": (spec) => void (spec.versions[0].storage = false),
        "a scope of no kind": (spec) => void (spec.scope = "Nope"),
        "no schema": (spec) => void delete spec.versions[0].schema,
        "a type of no kind": (spec) =>
          void (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size = { type: "nope" }),
        "no type": (spec) => void (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size = {}),
        "a bad pattern": (spec) =>
          void (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.name.pattern = "("),
        "a bad default": (spec) =>
          void (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.color.default = "blue"),
        "a bad rule": (spec) =>
          void (spec.versions[0].schema.openAPIV3Schema.properties.spec["x-kubernetes-validations"][0].rule =
            "self.nope +"),
        "a rule of an unknown field": (spec) =>
          void (spec.versions[0].schema.openAPIV3Schema.properties.spec["x-kubernetes-validations"][0].rule =
            "self.nope == 1"),
        "a set of objects": (spec) =>
          void (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.tags.items = { type: "object" }),
        "a column without a path": (spec) => void delete spec.versions[0].additionalPrinterColumns[0].jsonPath,
        "names in upper case": (spec) => void (spec.names.plural = "Widgets"),
        "a webhook without a client": (spec) => void (spec.conversion = { strategy: "Webhook" }),
        "two storage versions": (spec) => void spec.versions.push({ ...spec.versions[0], name: "v2" }),
      };
      for (const [label, change] of Object.entries(wrong)) {
        const body = definition("wrong.example.test") as Loose;
        const copy = structuredClone(body);
        change(copy.spec);
        await session.send(`define with ${label}`, "POST", `${definitions}?dryRun=All`, { body: copy });
      }
    },
  },
];
