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

export const embedded: readonly Case[] = [
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
