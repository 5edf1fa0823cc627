/** Kinds of our own: one whose schema has every form of a list and a map, and one without any schema. */
import type { JsonMap } from "../json.ts";
import { type Kind, kindOf, partAt } from "./kind.ts";

export const GROUP = "drift.example.com";

const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const keyed = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: {
    type: "object",
    required: ["name"],
    properties: { name: text, value: text, on: { type: "boolean" }, tags: texts, more: { type: "array", items: text } },
  },
};
const twice = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["port", "protocol"],
  items: {
    type: "object",
    required: ["port"],
    properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, note: text },
  },
};
const properties = {
  size: { type: "integer" },
  ratio: { type: "number" },
  title: text,
  on: { type: "boolean" },
  usual: {
    type: "object",
    default: { level: 1 },
    properties: { level: { type: "integer", default: 1 }, mode: { ...text, default: "auto" } },
  },
  cpu: { "x-kubernetes-int-or-string": true },
  tags: texts,
  whole: { ...texts, "x-kubernetes-map-type": "atomic" },
  deep: {
    type: "object",
    properties: { inner: { type: "object", properties: { a: text, b: { type: "integer" }, map: texts } } },
  },
  list: { type: "array", items: text },
  set: { type: "array", "x-kubernetes-list-type": "set", items: text },
  items: keyed,
  ports: twice,
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  half: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: text } },
  maybe: { type: "string", nullable: true },
};

function definition(kind: string, plural: string, spec: JsonMap): JsonMap {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
}

export const definitions: readonly JsonMap[] = [
  definition("Gadget", "gadgets", { type: "object", properties }),
  definition("Blob", "blobs", { type: "object", "x-kubernetes-preserve-unknown-fields": true }),
];

const own = { apiVersion: `${GROUP}/v1`, isCustom: true };

/** What both kinds may declare; the one without a schema takes it as it is. */
const shared = [
  partAt("spec.size", 0, 1, 2),
  partAt("spec.ratio", 0, 0.5, 2),
  partAt("spec.title", "", "x", "y"),
  partAt("spec.on", false, true),
  partAt("spec.tags", { a: "1" }, { a: "2", b: "" }, { c: "3" }, {}),
  partAt("spec.whole", { a: "1" }, { a: "2", b: "" }, {}),
  partAt("spec.deep", { inner: { a: "", b: 0 } }, { inner: { a: "x", map: { k: "v" } } }, { inner: {} }, {}),
  partAt("spec.list", ["a"], ["a", "b"], ["b", "a"], [""], []),
  partAt(
    "spec.items",
    [{ name: "a", value: "1" }],
    [
      { name: "b", on: false },
      { name: "a", value: "" },
    ],
    [{ name: "a", tags: { t: "1" }, more: ["m"] }],
    [],
  ),
  partAt(
    "spec.ports",
    [{ port: 80 }],
    [
      { port: 80, protocol: "UDP" },
      { port: 80, note: "" },
    ],
    [],
  ),
  partAt("spec.free", { a: { b: "1", n: 0 } }, { a: { b: "2" }, l: [{ x: 1 }] }, { a: {} }, { z: false, s: "" }, {}),
];

export const custom: readonly Kind[] = [
  kindOf({
    ...own,
    kind: "Gadget",
    plural: "gadgets",
    base: { spec: {} },
    parts: [
      ...shared,
      partAt("spec.usual", { level: 0 }, { level: 1 }, { mode: "" }, {}),
      partAt("spec.cpu", "1000m", 1, 0, "0.5"),
      partAt("spec.set", ["a"], ["b", "a"], []),
      partAt("spec.half", { known: "", more: 1 }, { known: "x" }, {}),
      partAt("spec.maybe", "", "x"),
    ],
  }),
  kindOf({ ...own, kind: "Blob", plural: "blobs", base: { spec: {} }, parts: shared }),
];
