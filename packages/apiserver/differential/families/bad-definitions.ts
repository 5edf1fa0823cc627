/** Definitions that are refused: schemas that are not structural, rules that do not compile, odd names and versions. */
import type { Family, Probe } from "./family.ts";

const group = "schemas.example.test";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const rule = (text: string, more: object = {}): object => ({ "x-kubernetes-validations": [{ rule: text, ...more }] });

const badSchemas: Readonly<Record<string, unknown>> = {
  "no type": {},
  "a type of nothing": { type: "" },
  "an unknown type": { type: "nope" },
  "two types": { type: ["string", "integer"] },
  "a text as root": { type: "string" },
  "an array without items": { a: { type: "array" } },
  "a list of items": { a: { type: "array", items: [{ type: "string" }] } },
  "both properties": { a: { type: "object", properties: {}, additionalProperties: { type: "string" } } },
  "additional of false": { a: { type: "object", additionalProperties: false } },
  "additional of true": { a: { type: "object", additionalProperties: true } },
  "a reference": { a: { $ref: "#/definitions/x" } },
  "pattern properties": { a: { type: "object", patternProperties: { x: { type: "string" } } } },
  "unique items": { a: { type: "array", uniqueItems: true, items: { type: "string" } } },
  dependencies: { a: { type: "object", dependencies: { a: ["b"] } } },
  "an id": { a: { type: "string", id: "x", $schema: "y" } },
  definitions: { a: { type: "object", definitions: { a: { type: "string" } } } },
  "a bad pattern": { a: { type: "string", pattern: "[" } },
  "a lookahead": { a: { type: "string", pattern: "(?=a)b" } },
  "an unknown format": { a: { type: "string", format: "nope" } },
  "a bad default": { a: { type: "string", default: 1 } },
  "a default beyond its rules": { a: { type: "string", maxLength: 1, default: "abc" } },
  "a default of unknown fields": { a: { type: "object", properties: { b: { type: "string" } }, default: { c: 1 } } },
  "a null default": { a: { type: "string", default: null } },
  "types in a junctor": { a: { type: "string", anyOf: [{ type: "string" }] } },
  "a default in a junctor": { a: { type: "string", anyOf: [{ default: "x" }] } },
  "properties only in a junctor": { a: { type: "object", anyOf: [{ properties: { b: { minLength: 1 } } }] } },
  "a description in a junctor": { a: { type: "string", not: { description: "x", title: "y" } } },
  "nullable in a junctor": { a: { type: "string", allOf: [{ nullable: true }] } },
  "a list type of a text": { a: { type: "string", "x-kubernetes-list-type": "set" } },
  "an unknown list type": { a: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "nope" } },
  "a map without keys": {
    a: {
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
    },
  },
  "keys that are missing": {
    a: {
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k", "n"],
    },
  },
  "keys that are optional": {
    a: {
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    },
  },
  "the same key twice": {
    a: {
      type: "array",
      items: { type: "object", required: ["k"], properties: { k: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k", "k"],
    },
  },
  "keys of objects": {
    a: {
      type: "array",
      items: { type: "object", required: ["k"], properties: { k: { type: "object" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    },
  },
  "keys of a set": {
    a: {
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "set",
      "x-kubernetes-list-map-keys": ["k"],
    },
  },
  "a set of objects": {
    a: {
      type: "array",
      items: { type: "object", properties: { b: { type: "string" } } },
      "x-kubernetes-list-type": "set",
    },
  },
  "nullable items of a set": {
    a: { type: "array", items: { type: "string", nullable: true }, "x-kubernetes-list-type": "set" },
  },
  "a map type of a list": { a: { type: "array", items: { type: "string" }, "x-kubernetes-map-type": "atomic" } },
  "an unknown map type": { a: { type: "object", "x-kubernetes-map-type": "nope" } },
  "preserving nothing": { a: { type: "object", "x-kubernetes-preserve-unknown-fields": false } },
  "preserving of a text": { a: { type: "string", "x-kubernetes-preserve-unknown-fields": true } },
  "either with a type": { a: { type: "string", "x-kubernetes-int-or-string": true } },
  "an embedded text": { a: { type: "string", "x-kubernetes-embedded-resource": true } },
  "an embedded object without fields": { a: { type: "object", "x-kubernetes-embedded-resource": true } },
  "minimum of text": { a: { type: "string", minimum: 1, maxItems: 2 } },
  "a negative length": { a: { type: "string", maxLength: -1 } },
  "a length of a text": { a: { type: "string", maxLength: "x" } },
  "an unknown keyword": { a: { type: "string", nope: 1, const: "x" } },
  "a rule that does not parse": { a: { type: "string", ...rule("self ==") } },
  "a rule of no truth": { a: { type: "string", ...rule("1 + 1") } },
  "a rule of unknown fields": {
    a: { type: "object", properties: { b: { type: "string" } }, ...rule("self.c == 'x'") },
  },
  "an empty rule": { a: { type: "string", ...rule("") } },
  "a rule with an empty message": { a: { type: "string", ...rule("true", { message: " " }) } },
  "a rule with lines in its message": { a: { type: "string", ...rule("true", { message: "a\nb" }) } },
  "a rule with a bad message expression": { a: { type: "string", ...rule("true", { messageExpression: "1" }) } },
  "a rule with an unknown reason": { a: { type: "string", ...rule("true", { reason: "Nope" }) } },
  "a rule with a bad path": {
    a: { type: "object", properties: { b: { type: "string" } }, ...rule("true", { fieldPath: ".c" }) },
  },
  "a rule with a worse path": {
    a: { type: "object", properties: { b: { type: "string" } }, ...rule("true", { fieldPath: "b" }) },
  },
  "the same rule twice": { a: { type: "string", "x-kubernetes-validations": [{ rule: "true" }, { rule: "true" }] } },
  "an old self in a list": { a: { type: "array", items: { type: "string", ...rule("self == oldSelf") } } },
  "a costly rule": { a: { type: "array", items: { type: "string" }, ...rule("self.all(x, self.all(y, x == y))") } },
  "metadata with rules": {
    metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 }, labels: { type: "object" } } },
  },
  "metadata of a text": { metadata: { type: "string" } },
  "a kind with rules": { kind: { type: "string", enum: ["A"] }, apiVersion: { type: "integer" } },
};

async function badDefinitions(probe: Probe): Promise<void> {
  const plural = "bads";
  const base = (versions: unknown, more: object = {}, metadata: object = {}): object => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, ...metadata },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: "bad", kind: "Bad", listKind: "BadList" },
      versions,
      ...more,
    },
  });
  const version = (more: object): object => ({
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object" } },
    ...more,
  });
  const send = async (label: string, body: object): Promise<void> => {
    await probe.send(label, "POST", `${definitions}?dryRun=All`, { body });
    await probe.send(`strictly ${label}`, "POST", `${definitions}?dryRun=All&fieldValidation=Strict`, { body });
  };
  for (const [label, schema] of Object.entries(badSchemas)) {
    const isRoot = ["no type", "a type of nothing", "an unknown type", "two types", "a text as root"].includes(label);
    await send(
      label,
      base([version({ schema: { openAPIV3Schema: isRoot ? schema : { type: "object", properties: schema } } })]),
    );
    if (!isRoot)
      await send(
        `${label} in spec`,
        base([
          version({
            schema: {
              openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: schema } } },
            },
          }),
        ]),
      );
  }
  const columns = (...list: object[]): object => ({ additionalPrinterColumns: list });
  for (const [label, more] of Object.entries({
    "no schema": { schema: undefined },
    "an empty schema": { schema: {} },
    "no name": { name: "" },
    "an odd name": { name: "V_1" },
    "a name of a number": { name: "1" },
    "served of text": { served: "x" },
    "not served": { served: false },
    "not stored": { storage: false },
    deprecated: { deprecated: true, deprecationWarning: "old" },
    "a warning without deprecation": { deprecationWarning: "x" },
    "an empty warning": { deprecated: true, deprecationWarning: "" },
    "a long warning": { deprecated: true, deprecationWarning: "x".repeat(257) },
    "a bad column": columns({ name: "", type: "nope", jsonPath: "x", format: "nope", priority: -1 }),
    "a column without path": columns({ name: "a", type: "string" }),
    "a column with a bad path": columns({ name: "a", type: "string", jsonPath: ".spec[" }),
    "a column of a wrong type": columns({ name: 1, type: "string", jsonPath: ".a" }),
    "no paths of scale": { subresources: { scale: {} } },
    "bad paths of scale": {
      subresources: { scale: { specReplicasPath: "spec.a", statusReplicasPath: ".spec.b", labelSelectorPath: ".x" } },
    },
    "paths of lists": {
      subresources: {
        scale: { specReplicasPath: ".spec.a[0]", statusReplicasPath: ".status.b", labelSelectorPath: ".status.c[1]" },
      },
    },
    "an unknown subresource": { subresources: { nope: {} } },
    "selectable but absent": { selectableFields: [{ jsonPath: ".spec.x" }] },
    "selectable of metadata": { selectableFields: [{ jsonPath: ".metadata.name" }] },
    "selectable of nothing": { selectableFields: [{}] },
    "selectable of odd paths": { selectableFields: [{ jsonPath: "spec" }, { jsonPath: ".spec[0]" }, { jsonPath: "" }] },
  }))
    await send(`a version with ${label}`, base([version(more)]));
  await send("no versions", base([]));
  await send("null versions", base(null));
  await send("versions of text", base("x"));
  await send("two stored versions", base([version({}), version({ name: "v2" })]));
  await send("the same version twice", base([version({}), version({ storage: false })]));
  for (const [label, more] of Object.entries({
    "no group": { group: "" },
    "a group without dot": { group: "x" },
    "an odd group": { group: "A_b.c" },
    "a reserved group": { group: "x.k8s.io" },
    "a reserved group of kubernetes": { group: "x.kubernetes.io" },
    "no scope": { scope: undefined },
    "an unknown scope": { scope: "World" },
    "no names": { names: undefined },
    "empty names": { names: {} },
    "odd names": {
      names: {
        plural: "Bads",
        singular: "B_ad",
        kind: "bad-",
        listKind: "1",
        shortNames: ["A", "a", "a"],
        categories: ["A", ""],
      },
    },
    "a kind as list": { names: { plural, singular: "bad", kind: "Bad", listKind: "Bad" } },
    "preserved fields": { preserveUnknownFields: true },
    "an unknown field": { nope: 1 },
    "a webhook": { conversion: { strategy: "Webhook" } },
    "an unknown strategy": { conversion: { strategy: "Nope" } },
    "old fields": { version: "v1", validation: {}, additionalPrinterColumns: [] },
  }))
    await send(`a spec with ${label}`, base([version({})], more));
  for (const [label, metadata] of Object.entries({
    "another name": { name: "x.y" },
    "no name": { name: undefined },
    "a reserved group approved": { annotations: { "api-approved.kubernetes.io": "x" } },
  }))
    await send(`metadata with ${label}`, base([version({})], {}, metadata));
}

export const definitionsOfMistakes: Family = { name: "bad definitions", run: badDefinitions };
