/** Definitions with embedded objects, unknown formats, rules of every library, and versions whose schemas differ. */
import type { Case } from "../case.ts";
import { define, definitionOf, versionOf } from "../custom-kinds.ts";
import type { Session } from "../session.ts";
import { walk } from "./allocation.ts";

const text = { type: "string", maxLength: 30 };

function version(name: string, properties: object, more: object = {}): object {
  const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const spec = { type: "object", properties, ...more };
  const additionalPrinterColumns = [{ name: "When", type: "date", jsonPath: ".status.when" }];
  return versionOf(name, { type: "object", properties: { spec, status } }, { additionalPrinterColumns });
}

interface Defined {
  readonly path: (version: string) => string;
  readonly make: (name: string, rest: object) => object;
}

async function defineKind(session: Session, plural: string, versions: readonly object[]): Promise<Defined> {
  const group = `${plural}.embedded.example.test`;
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  await session.createNamespace();
  await define(session, definitionOf({ group, plural, kind, versions }));
  const path = (name: string): string => `/apis/${group}/${name}/namespaces/${session.slug}/${plural}`;
  return { path, make: (name, rest) => ({ apiVersion: `${group}/v1`, kind, metadata: { name }, ...rest }) };
}

const insides: readonly object[] = [
  { apiVersion: "v1", kind: "Pod", metadata: { name: "x", foo: 1 } },
  { apiVersion: "v1", kind: "Pod", metadata: { name: 5 } },
  { apiVersion: "a/b/c", kind: "X" },
  { apiVersion: "v1", kind: "p od" },
  { apiVersion: 1, kind: "X" },
  { apiVersion: "v1", kind: "X", metadata: { labels: { "b!": "x" } } },
];

const rules: readonly (readonly [field: string, rule: string, values: readonly unknown[]])[] = [
  ["either", "type(self.either) == int ? self.either < 5 : self.either == 'x'", [4, 6, "x", "y"]],
  ["bytes", "self.bytes == b'abc'", ["YWJj", "YWI="]],
  ["ip", "[self.ip].all(i, v, i >= 0 && v != '') && ip(self.ip).family() == 4", ["1.2.3.4", "::1", "z"]],
  ["cidr", "cidr(self.cidr).containsIP('10.1.1.1')", ["10.0.0.0/8", "x"]],
  ["url", "url(self.url).getHost() == 'a.test'", ["http://a.test/x", "x"]],
  ["semver", "semver(self.semver).major() == 1", ["1.2.3", "v1"]],
];

const short = { type: "string", maxLength: 5, pattern: "^[a-z]+$" };
const meta = { type: "object", properties: { name: short, generateName: { type: "string", maxLength: 3 } } };

/** What a definition may say about metadata, and what it may not. */
const metas: readonly object[] = [
  { type: "object" },
  { type: "object", properties: { name: { type: "string", "x-kubernetes-validations": [{ rule: "self != 'a'" }] } } },
  { type: "object", properties: { name: { type: "string", default: "a" } } },
  { type: "object", properties: { labels: { type: "object" } } },
  { type: "object", properties: { name: { type: "integer" } } },
  { type: "object", required: ["generateName"] },
  { type: "object", maxProperties: 3, properties: { name: { type: "string", enum: ["a", "b"] } } },
];

export const embedded: readonly Case[] = [
  {
    name: "definitions that restrict names",
    run: async (session) => {
      const inside = { type: "object", "x-kubernetes-embedded-resource": true, properties: { metadata: meta } };
      const spec = {
        type: "object",
        properties: {
          one: inside,
          all: { type: "array", items: { ...inside, "x-kubernetes-preserve-unknown-fields": true } },
        },
      };
      const schema = { type: "object", properties: { metadata: meta, spec } };
      const { path, make } = await defineKind(session, "named", [versionOf("v1", schema)]);
      const at = path("v1");
      const applied = { "content-type": "application/apply-patch+yaml" };
      const object = (name: string, more: object = {}): object => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, ...more },
      });
      const strict = "fieldValidation=Strict";
      await walk(session, [
        ...["right", "toolong", "a1", "toolong1"].map((name) => ({ method: "POST", path: at, body: make(name, {}) })),
        { method: "POST", path: at, body: { ...make("", {}), metadata: { generateName: "long" } } },
        { method: "GET", path: `${at}/right` },
        { method: "PATCH", path: `${at}/right`, body: { metadata: { labels: { a: "b" } } } },
        { method: "PUT", path: `${at}/right`, body: make("right", { spec: { one: object("in") } }) },
        ...["good", "toolong"].map((name) => ({
          method: "PATCH",
          path: `${at}/${name}?fieldManager=me`,
          headers: applied,
          body: make(name, { spec: { one: object("x") } }),
        })),
        ...["ok", "toolong", "a1", ""].flatMap((name, index) => [
          { method: "POST", path: at, body: make(`i${"abcd"[index]}`, { spec: { one: object(name) } }) },
          { method: "POST", path: at, body: make(`l${"abcd"[index]}`, { spec: { all: [object("b"), object(name)] } }) },
        ]),
        ...[{ foo: 1 }, { labels: { a: "b" } }, { generateName: "long" }].flatMap((more, index) => [
          {
            method: "POST",
            path: `${at}?${strict}`,
            body: make(`s${"abc"[index]}`, { spec: { one: object("x", more) } }),
          },
          {
            method: "POST",
            path: `${at}?${strict}`,
            body: { ...make("x", {}), metadata: { name: `t${"abc"[index]}`, ...more } },
          },
        ]),
        ...metas.map((metadata, index) => ({
          method: "POST",
          path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
          body: definitionOf({
            group: "metas.embedded.example.test",
            plural: `metas${index}`,
            kind: `Metas${index}`,
            versions: [
              versionOf("v1", {
                type: "object",
                properties: { metadata, spec: { ...inside, properties: { metadata } } },
              }),
            ],
          }),
        })),
      ]);
    },
  },
  {
    name: "embedded objects",
    run: async (session) => {
      const inside = { "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true };
      const { path, make } = await defineKind(session, "holders", [
        version("v1", {
          inside: { type: "object", ...inside },
          ratio: { type: "number", format: "float" },
          odd: { type: "string", format: "zip" },
        }),
      ]);
      const one = path("v1");
      const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
      await walk(session, [
        ...insides.map((value, index) => ({
          method: "POST",
          path: one,
          body: make(`i${index}`, { spec: { inside: value } }),
        })),
        { method: "POST", path: one, body: make("r", { spec: { ratio: 1e40 } }) },
        { method: "POST", path: one, body: { ...make("k", {}), kind: "Other" } },
        { method: "POST", path: one, body: make("t", { status: { when: "yesterday" } }) },
        { method: "GET", path: `${one}/t`, headers: asTable },
        { method: "GET", path: `${one}/t/nothing` },
        { method: "GET", path: path("v9") },
        { method: "GET", path: `${one}-none` },
      ]);
    },
  },
  {
    name: "definitions with rules for names",
    run: async (session) => {
      const name = { ...text, enum: ["a", "b", "c"], "x-kubernetes-validations": [{ rule: "self != 'a'" }] };
      const metadata = { type: "object", properties: { name } };
      const inside = { type: "object", "x-kubernetes-embedded-resource": true };
      const named = { ...name, default: "c" };
      const spec = {
        type: "object",
        properties: {
          one: { ...inside, properties: { metadata: { ...metadata, properties: { name: named } } } },
          all: { type: "array", maxItems: 2, items: { ...inside, properties: { metadata } } },
        },
      };
      const schema = { type: "object", properties: { metadata, spec } };
      const { path, make } = await defineKind(session, "ruling", [versionOf("v1", schema)]);
      const [a, b, d] = ["a", "b", "d"].map((one) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: one } }));
      const none = { apiVersion: "v1", kind: "Pod", metadata: {} };
      await walk(session, [
        ...["a", "b", "d"].map((one) => ({ method: "POST", path: path("v1"), body: make(one, {}) })),
        ...[a, b, d, none].flatMap((one) => [
          { method: "POST", path: `${path("v1")}?dryRun=All`, body: make("c", { spec: { one } }) },
          { method: "POST", path: `${path("v1")}?dryRun=All`, body: make("c", { spec: { all: [b, one] } }) },
          { method: "PATCH", path: `${path("v1")}/b`, body: { spec: { one } } },
        ]),
      ]);
    },
  },
  {
    name: "versions with defaults of their own",
    run: async (session) => {
      const { path, make } = await defineKind(session, "pairs", [
        version("v1", { a: { ...text, default: "one" } }),
        version("v2", { a: text, b: { ...text, default: "two" } }),
      ]);
      await walk(session, [
        { method: "POST", path: path("v1"), body: make("o", { spec: {} }) },
        { method: "GET", path: `${path("v2")}/o` },
        { method: "PATCH", path: `${path("v2")}/o`, body: { spec: { a: "x" } } },
        { method: "GET", path: `${path("v1")}/o` },
      ]);
    },
  },
  {
    name: "libraries of rules",
    run: async (session) => {
      const { path, make } = await defineKind(session, "ruled", [
        version(
          "v1",
          {
            either: { "x-kubernetes-int-or-string": true },
            bytes: { ...text, format: "byte" },
            ip: text,
            cidr: text,
            url: text,
            semver: text,
          },
          { "x-kubernetes-validations": rules.map(([field, rule]) => ({ rule: `!has(self.${field}) || (${rule})` })) },
        ),
      ]);
      await walk(
        session,
        rules.flatMap(([field, , values]) =>
          values.map((value) => ({
            method: "POST",
            path: `${path("v1")}?dryRun=All`,
            body: make("o", { spec: { [field]: value } }),
          })),
        ),
      );
    },
  },
];
