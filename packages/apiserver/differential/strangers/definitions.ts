/** Random definitions of custom resources, what they are changed to, and objects of theirs. */
import type { Dice } from "../access/dice.ts";
import type { Loose } from "../session.ts";
import { type Fields, mistaken, someOf } from "./bodies.ts";
import { accepts, metadata } from "./choices.ts";
import type { Stranger, Visit } from "./stranger.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const properties: readonly Readonly<Record<string, Fields>>[] = [
  { color: { type: "string", enum: ["red", "green"], default: "red" } },
  { size: { type: "integer", minimum: 1, maximum: 10 } },
  { tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set", maxItems: 3 } },
  {
    parts: {
      type: "array",
      maxItems: 5,
      items: {
        type: "object",
        required: ["key"],
        properties: { key: { type: "string" }, value: { type: "string", default: "v" } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key"],
    },
  },
  { free: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  { either: { "x-kubernetes-int-or-string": true } },
  { map: { type: "object", additionalProperties: { type: "string", maxLength: 4 } } },
  { when: { type: "string", format: "date-time" } },
  { maybe: { type: "string", nullable: true } },
  { flag: { type: "boolean", default: true } },
  { fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }] } },
  { lower: { type: "string", pattern: "^[a-z]+$", minLength: 2 } },
  {
    nested: {
      type: "object",
      required: ["one"],
      properties: { one: { type: "string" }, two: { type: "object", properties: { deep: { type: "boolean" } } } },
      default: { one: "x" },
    },
  },
  { any: { "x-kubernetes-preserve-unknown-fields": true } },
  {
    embedded: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  },
  { not: { type: "string", not: { enum: ["no"] } } },
];
const rules: readonly Fields[] = [
  { rule: "!has(self.size) || self.size < 9", message: "too large" },
  {
    rule: "!has(self.color) || self.color != 'green'",
    messageExpression: "'no ' + self.color",
    reason: "FieldValueForbidden",
  },
  { rule: "has(self.color) == has(self.size)", fieldPath: ".size", reason: "FieldValueRequired" },
  { rule: "oldSelf.?size.orValue(0) <= self.?size.orValue(0)" },
];
const columns: readonly Fields[] = [
  { name: "Size", type: "integer", jsonPath: ".spec.size" },
  { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "When", type: "date", jsonPath: ".spec.when" },
  { name: "Tags", type: "string", jsonPath: ".spec.tags[*]" },
  { name: "Flag", type: "boolean", jsonPath: ".spec.flag", description: "whether" },
  { name: "First", type: "string", jsonPath: ".spec.parts[0].key", format: "byte" },
  { name: "Found", type: "string", jsonPath: ".spec.parts[?(@.key=='a')].value" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Number", type: "number", jsonPath: ".spec.size" },
  { name: "Map", type: "string", jsonPath: ".spec.map" },
  { name: "Name", type: "string", jsonPath: ".metadata.name" },
];

interface Made {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly group: string;
}

function schemaOf(dice: Dice): Fields {
  const spec = {
    type: "object",
    properties: Object.assign({}, ...dice.some(properties, 7)),
    ...(dice.chance(0.3) && { required: [dice.one(["color", "size", "tags"])] }),
    ...(dice.chance(0.4) && { "x-kubernetes-validations": dice.some(rules, 2) }),
  } as { properties: Fields; required?: string[]; "x-kubernetes-validations"?: unknown };
  if (!("color" in spec.properties) || !("size" in spec.properties)) delete spec["x-kubernetes-validations"];
  if (spec.required?.some((name) => !(name in spec.properties))) delete spec.required;
  const conditions = { type: "array", items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const replicas = { type: "integer" };
  const selector = { type: "string" };
  return {
    type: "object",
    properties: {
      spec: { ...spec, properties: { ...spec.properties, replicas } },
      status: { type: "object", properties: { replicas, selector, conditions } },
    },
    ...(dice.chance(0.2) && { required: ["spec"] }),
  };
}

function versionOf(dice: Dice, name: string, storage: boolean): Fields {
  const scale = {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    ...(dice.chance(0.5) && { labelSelectorPath: ".status.selector" }),
  };
  const schema = schemaOf(dice);
  const { spec } = schema["properties"] as Readonly<Record<string, { readonly properties: Fields }>>;
  const selectable = ["color", "size", "replicas", "flag"].filter((field) => field in spec!.properties);
  return {
    name,
    served: storage || dice.chance(0.8),
    storage,
    schema: { openAPIV3Schema: schema },
    ...(dice.chance(0.7) && {
      subresources: { ...(dice.chance(0.8) && { status: {} }), ...(dice.chance(0.5) && { scale }) },
    }),
    ...(dice.chance(0.7) && { additionalPrinterColumns: dice.some(columns, 6) }),
    ...(dice.chance(0.3) && { selectableFields: [{ jsonPath: `.spec.${dice.one(selectable)}` }] }),
    ...(dice.chance(0.2) && { deprecated: true, ...(dice.chance(0.5) && { deprecationWarning: "old, use another" }) }),
  };
}

function definitionOf(dice: Dice, { plural, kind, namespaced, group }: Made): Fields {
  const versions = dice.chance(0.5)
    ? [versionOf(dice, "v1", true)]
    : [
        versionOf(dice, "v1beta1", false),
        versionOf(dice, "v1", true),
        ...(dice.chance(0.3) ? [versionOf(dice, "v2alpha1", false)] : []),
      ];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: {
        plural,
        kind,
        ...(dice.chance(0.5) && { singular: kind.toLowerCase() }),
        ...(dice.chance(0.4) && { shortNames: [`s${plural.slice(-3)}`] }),
        ...(dice.chance(0.4) && { categories: ["all", "strange"] }),
        ...(dice.chance(0.4) && { listKind: `${kind}List` }),
      },
      versions,
      ...(dice.chance(0.2) && { conversion: { strategy: "None" } }),
      ...(dice.chance(0.2) && { preserveUnknownFields: false }),
    },
  };
}

const values: readonly Fields[] = [
  { color: "green" },
  { color: "blue" },
  { size: 5 },
  { size: 50 },
  { size: "5" },
  { tags: ["a", "b"] },
  { tags: ["a", "a"] },
  { parts: [{ key: "a" }, { key: "b", value: "w" }] },
  { parts: [{ key: "a" }, { key: "a" }] },
  { parts: [{ value: "w" }] },
  { free: { x: { y: [1, null] } } },
  { either: "10%" },
  { either: 3 },
  { map: { a: "b", long: "toolong" } },
  { when: "2026-01-02T03:04:05Z" },
  { when: "now" },
  { maybe: null },
  { flag: null },
  { flag: "yes" },
  { fixed: "a" },
  { fixed: "b" },
  { lower: "A" },
  { nested: { two: { deep: true, other: 1 } } },
  { any: [1, "x"] },
  { embedded: { apiVersion: "v1", kind: "X", metadata: { name: "e", labels: { a: "b" } } } },
  { embedded: { kind: "X" } },
  { not: "no" },
  { replicas: 3 },
  { unknown: true },
];

function objectOf({ dice }: Visit, made: Made, name: string): Fields {
  const spec = Object.assign({}, ...dice.some(values, 4)) as Fields;
  const object = {
    apiVersion: `${made.group}/${dice.one(["v1", "v1", "v1", "v1", "v1", "v1beta1"])}`,
    kind: made.kind,
    metadata: { name, ...(dice.chance(0.15) && dice.one(metadata)) },
    spec,
    ...(dice.chance(0.15) && { status: { replicas: 1, selector: "a=b" } }),
  };
  return dice.chance(0.2) ? mistaken(dice, object) : object;
}

/**
 * Leaves only fields that a version declares, or one that it does not: a server stops at the first undeclared one that
 * it comes across in a map.
 */
function withOneUndeclared(object: Fields, definition: Fields, version: string): Fields {
  const { versions } = definition["spec"] as { readonly versions: readonly Loose[] };
  const known = versions.find(({ name }) => name === version)?.schema.openAPIV3Schema.properties.spec.properties ?? {};
  const { spec } = object;
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return object;
  const names = Object.keys(spec);
  const first = names.find((name) => !(name in known));
  const kept = first === undefined ? names : [first];
  const { status: _, ...rest } = object;
  return {
    ...(first === undefined ? object : rest),
    spec: Object.fromEntries(kept.map((name) => [name, (spec as Fields)[name]])),
  };
}

const changes = (dice: Dice, { kind }: Made): Fields =>
  dice.one<Fields>([
    { spec: { names: { shortNames: ["xx"], categories: ["all"] } } },
    { spec: { names: { kind: `${kind}s`, listKind: `${kind}sList` } } },
    { spec: { names: { singular: "other" } } },
    { spec: { names: { plural: "others" } } },
    { spec: { scope: "Cluster" } },
    { spec: { group: "elsewhere.example.test" } },
    { spec: { conversion: { strategy: "Webhook" } } },
    { spec: { conversion: { strategy: "Nope" } } },
    { spec: { preserveUnknownFields: true } },
    { status: { storedVersions: ["v1"] } },
    { status: { storedVersions: ["v1", "v9"] } },
    { metadata: { annotations: { "api-approved.kubernetes.io": "unapproved" } } },
    { metadata: { labels: { a: "b" } } },
    { spec: { versions: [] } },
  ]);

const noTables = accepts.filter((type) => type !== "");

async function life(visit: Visit): Promise<void> {
  const { dice, session } = visit;
  const root = await visit.createNamespace();
  const made: Made = {
    plural: `oddments${visit.index}`,
    kind: `Oddment${visit.index}`,
    namespaced: dice.chance(0.7),
    group: `g${visit.index}.strange.example.test`,
  };
  const path = `${definitions}/${made.plural}.${made.group}`;
  const definition = definitionOf(dice, made);
  await visit.send("try a definition with a mistake", "POST", `${definitions}?dryRun=All`, {
    body: mistaken(dice, definition),
  });
  await visit.send("try another", "POST", `${definitions}?dryRun=All`, {
    body: mistaken(dice, mistaken(dice, definition)),
  });
  await visit.send("try it", "POST", `${definitions}?dryRun=All`, { body: definition });
  await session.quietly("POST", definitions, definition);
  await session.waitFor(`/apis/${made.group}/v1/${made.plural}`, (list) => list?.kind?.endsWith("List"));
  await session.noticed(300);
  await visit.send("read it", "GET", path);
  const placed = made.namespaced ? `namespaces/${root.slice(root.lastIndexOf("/") + 1)}/` : "";
  const collection = (version: string): string => `/apis/${made.group}/${version}/${placed}${made.plural}`;
  const names = ["a", "b", "c"];
  for (const step of Array.from({ length: 26 }, () => dice.next())) {
    const name = dice.one(names);
    const at = collection(dice.one(["v1", "v1", "v1", "v1", "v1beta1", "v2alpha1"]));
    const headers = { accept: dice.chance(0.8) ? "application/json" : dice.one(noTables) };
    const query = dice.one(["", "", "?fieldValidation=Strict", "?fieldValidation=Ignore", "?dryRun=All"]);
    if (step < 0.35) {
      await visit.send("create", "POST", `${at}${query}`, { body: objectOf(visit, made, name), headers });
    } else if (step < 0.45) {
      const type = dice.one(["application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"]);
      const selecting = dice.one([
        "",
        "?fieldSelector=spec.color%3Dred",
        "?fieldSelector=spec.size%3D5",
        "?fieldSelector=spec.replicas!%3D3",
      ]);
      await visit.send("list", "GET", `${at}${selecting}`, { headers: { accept: type } });
    } else if (step < 0.7) {
      const type = dice.one(["merge-patch+json", "apply-patch+yaml", "strategic-merge-patch+json"]);
      const whole = objectOf(visit, made, name);
      const body = type.startsWith("apply")
        ? withOneUndeclared(whole, definition, String(whole["apiVersion"]).split("/")[1] ?? "")
        : someOf(dice, { spec: whole["spec"], status: { replicas: 2, selector: "x" } });
      const part = dice.one(["", "", "", "/status", "/scale"]);
      const applied = type.startsWith("apply") ? `${query === "" ? "?" : `${query}&`}fieldManager=m` : query;
      const call = { body, headers: { ...headers, "content-type": `application/${type}` } };
      await visit.send(type, "PATCH", `${at}/${name}${part}${applied}`, call);
    } else if (step < 0.8) {
      await visit.send("read", "GET", `${at}/${name}${dice.one(["", "", "/status", "/scale"])}`, { headers });
    } else if (step < 0.86) {
      await visit.send("delete", "DELETE", `${at}/${name}${query.replace("fieldValidation", "x")}`);
    } else if (step < 0.93) {
      const body = changes(dice, made);
      const part = "status" in body ? "/status" : "";
      const call = { body, headers: { "content-type": "application/merge-patch+json" } };
      await visit.send("try to change it", "PATCH", `${path}${part}?dryRun=All`, call);
    } else {
      const present: Loose = await visit.quietly("GET", at);
      const replicas = dice.one([1, 4, -1]);
      const metadata = { name, resourceVersion: dice.one([undefined, "1", present?.metadata?.resourceVersion]) };
      const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata, spec: { replicas } };
      await visit.send("scale", "PUT", `${at}/${name}/scale`, { body, headers });
    }
  }
  await visit.send("its versions", "GET", `/apis/${made.group}`);
  for (const version of ["v1", "v1beta1", "v2alpha1"])
    await visit.send(version, "GET", `/apis/${made.group}/${version}`);
  await visit.quietly("DELETE", path);
}

export const definitionsOfStrangers: readonly Stranger[] = [{ name: "random definitions", count: 24, run: life }];
