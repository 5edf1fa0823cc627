/** OpenAPI of custom kinds: their schemas, what these refer to, and their operations. */
import type { Case } from "../case.ts";
import { define, definitionOf, versionOf } from "../custom-kinds.ts";
import type { Loose } from "../session.ts";

const group = "zoo-of.published.example.test";
const open = { "x-kubernetes-preserve-unknown-fields": true };
const inside = { type: "object", "x-kubernetes-embedded-resource": true };
const either = { "x-kubernetes-int-or-string": true };
const name = { type: "string", maxLength: 9 };
const metadata = { type: "object", properties: { name } };
const both = [{ type: "integer" }, { type: "string" }];

const fields = {
  size: { type: "integer", default: 3, nullable: true },
  replicas: { type: "integer", format: "int32", minimum: 1, maximum: 9, exclusiveMaximum: true, multipleOf: 2 },
  list: {
    type: "array",
    maxItems: 4,
    items: { type: "object", required: ["k", "n"], properties: { k: name, n: { ...name, nullable: true } } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  },
  any: open,
  either,
  eitherPattern: { ...either, pattern: "^a$" },
  eitherBoth: { ...either, anyOf: both },
  eitherAll: { ...either, allOf: [{ anyOf: both }, { pattern: "a" }] },
  inside: { ...inside, ...open },
  insideNamed: { ...inside, required: ["kind"], properties: { metadata, spec: { type: "object" } } },
  insides: { type: "array", items: { ...inside, ...open } },
  insideMap: { type: "object", additionalProperties: { ...inside, properties: { spec: { type: "object" } } } },
  map: { type: "object", additionalProperties: { type: "string", nullable: true } },
  anyMap: { type: "object", additionalProperties: true },
  choice: {
    type: "string",
    maxLength: 3,
    enum: ["a", "b"],
    not: { pattern: "x" },
    "x-kubernetes-validations": [{ rule: "self != 'b'" }],
  },
  object: {
    type: "object",
    ...open,
    required: ["a"],
    properties: { a: { type: "string", oneOf: [{ pattern: "a" }, { minLength: 3 }] } },
  },
  told: { type: "string", title: "Told", description: "is told", example: "x", externalDocs: { url: "https://a" } },
};

const version = {
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
};

export const openapi: readonly Case[] = [
  {
    name: "openapi of custom kinds",
    run: async (session) => {
      const spec = {
        type: "object",
        description: "what is wanted",
        required: ["size", "replicas"],
        properties: fields,
      };
      const status = { type: "object", properties: { replicas: { type: "integer" } } };
      const schema = { type: "object", description: "A tiger.", properties: { metadata, spec, status } };
      const versions = [versionOf("v1", schema, version), versionOf("v1alpha1", { type: "object", ...open })];
      await define(session, definitionOf({ group, plural: "tigers", kind: "Tiger", versions }));
      const names = { listKind: "CageCollection" };
      const cages = versionOf("v1", { type: "object", properties: { spec: { type: "object" } } });
      await define(
        session,
        definitionOf({ group, plural: "cages", kind: "Cage", scope: "Cluster", names, versions: [cages] }),
      );
      for (const version of ["v1", "v1alpha1"]) {
        const path = `/openapi/v3/apis/${group}/${version}`;
        const count = version === "v1" ? 7 : 3;
        await session.waitFor(path, ({ paths }) => Object.keys(paths ?? {}).length === count);
        const document = await session.quietly("GET", path);
        for (const name of Object.keys(document.components.schemas)) {
          // The built-in ones name every group that they are in, which depends on what else is defined.
          if (name.startsWith("io.k8s.")) delete document.components.schemas[name]["x-kubernetes-group-version-kind"];
        }
        session.note(version, document);
      }
      const isOwn = ([name]: [string, unknown]): boolean => /published/.test(name);
      const whole = ({ paths = {} }: Loose): boolean =>
        Object.keys(paths).filter((path) => path.includes(group)).length === 10;
      await session.waitFor("/openapi/v2", whole);
      const { definitions, paths, parameters } = await session.quietly("GET", "/openapi/v2");
      session.note("v2", {
        definitions: Object.fromEntries(Object.entries(definitions).filter(isOwn)),
        paths: resolved(Object.fromEntries(Object.entries(paths).filter(isOwn)), parameters),
      });
    },
  },
];

/** Puts parameters in the place of references to them. */
function resolved(value: unknown, parameters: Loose): unknown {
  if (Array.isArray(value)) return value.map((each) => resolved(each, parameters));
  if (typeof value !== "object" || value === null) return value;
  const { $ref } = value as { $ref?: string };
  if ($ref?.startsWith("#/parameters/")) return parameters[$ref.slice("#/parameters/".length)];
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each, parameters)]));
}
