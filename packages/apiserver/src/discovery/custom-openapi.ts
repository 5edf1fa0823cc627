/** Describes custom kinds in OpenAPI: their schemas, the built-in ones these refer to, and their operations. */
import type { Fields, KindRow } from "../hooks.ts";
import { writeJson } from "../numbers.ts";
import { openApiV3 } from "../tables/tables.ts";

/** A served version of a custom kind. */
export interface CustomKind {
  readonly row: KindRow;
  /** The definition's `openAPIV3Schema`. */
  readonly schema: Fields;
}

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";
const scale = "io.k8s.api.autoscaling.v1.Scale";

/** What every group's document has in common with those of built-in kinds. */
interface Shared {
  readonly schemas: Readonly<Record<string, Fields>>;
  /** The parameters of operations by their name; one of patches that differs from that of others is `patch NAME`. */
  readonly parameters: ReadonlyMap<string, Fields>;
}

let shared: Shared | undefined;

/** Takes the document of `apps`, because its kinds have each operation and subresource that custom kinds can have. */
function sharedParts(): Shared {
  if (shared !== undefined) return shared;
  const { components, paths } = JSON.parse(Buffer.from(openApiV3("apis/apps/v1")!).toString()) as {
    components: { schemas: Record<string, Fields> };
    paths: Record<string, Record<string, Fields[] | { parameters?: Fields[] }>>;
  };
  const schemas = Object.entries(components.schemas).filter(
    ([name]) => name.startsWith(meta) || name.startsWith(scale),
  );
  const parameters = new Map<string, Fields>();
  for (const [method, part] of Object.values(paths).flatMap((path) => Object.entries(path))) {
    for (const one of Array.isArray(part) ? part : (part.parameters ?? [])) {
      parameters.set(`${method === "patch" ? "patch " : ""}${String(one["name"])}`, one);
    }
  }
  return (shared = { schemas: Object.fromEntries(schemas), parameters });
}

/** Returns the document of one group and version. */
export function customDocument(kinds: readonly CustomKind[]): Fields {
  const schemas: Record<string, Fields> = {};
  for (const kind of kinds) Object.assign(schemas, customSchemas(kind, 3));
  const paths = customPaths(kinds);
  const all = { ...schemas, ...sharedParts().schemas };
  const used = new Set<string>();
  const follow = (value: unknown): void => {
    for (const [, name] of writeJson(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name!) || all[name!] === undefined) continue;
      used.add(name!);
      follow(all[name!]);
    }
  };
  follow(paths);
  const components = { schemas: Object.fromEntries([...used].toSorted().map((name) => [name, all[name]!])) };
  return { openapi: "3.0.0", info: { title: "Kubernetes CRD Swagger", version: "v0.1.0" }, paths, components };
}

/** Returns the operations of kinds by their paths, in the form of v3. */
export function customPaths(kinds: readonly CustomKind[]): Readonly<Record<string, Fields>> {
  return Object.assign({}, ...kinds.map(({ row }) => operationsOf(row))) as Record<string, Fields>;
}

/** The version of OpenAPI. */
type Version = 2 | 3;

/** Returns the schemas of a kind and of its list, by their names in OpenAPI. */
export function customSchemas({ row, schema }: CustomKind, version: Version): Readonly<Record<string, Fields>> {
  const { kind, listKind, plural } = row;
  const object = objectFields(typeTexts, version);
  const own = published(schema, version);
  const properties = { ...(own["properties"] as Fields | undefined), ...object };
  return {
    [schemaName(row, kind)]: {
      ...(isOpen(schema, version) ? { type: "object" } : { ...own, properties }),
      "x-kubernetes-group-version-kind": [kindOf(row, kind)],
    },
    [schemaName(row, listKind)]: {
      description: `${listKind} is a list of ${kind}`,
      type: "object",
      required: ["items"],
      properties: {
        ...object,
        metadata: described("Standard list metadata. More info: #types-kinds", "ListMeta", version),
        items: {
          description: `List of ${plural}. More info: ${conventions}`,
          type: "array",
          items: reference(schemaName(row, kind), version),
        },
      },
      "x-kubernetes-group-version-kind": [kindOf(row, listKind)],
    },
  };
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

interface TypeTexts {
  readonly apiVersion: string;
  readonly kind: string;
}

const typeTexts: TypeTexts = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
};

const embeddedTexts: TypeTexts = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
};

function objectFields({ apiVersion, kind }: TypeTexts, version: Version): Readonly<Record<string, Fields>> {
  return {
    apiVersion: { type: "string", description: apiVersion },
    kind: { type: "string", description: kind },
    metadata: described("Standard object's metadata. More info: #metadata", "ObjectMeta", version),
  };
}

/** In v3 nothing may stand beside a reference. */
function described(text: string, name: string, version: Version): Fields {
  const to = reference(`${meta}.${name}`, version);
  return { description: text.replace("#", `${conventions}#`), ...(version === 3 ? { allOf: [to] } : to) };
}

function reference(name: string, version: Version): Fields {
  return { $ref: `#/${version === 3 ? "components/schemas" : "definitions"}/${name}` };
}

/** Returns a name such as `io.example.zoo.v1.Tiger` for the group `zoo.example.io`. */
function schemaName({ group, version }: KindRow, kind: string): string {
  return `${group.split(".").toReversed().join(".")}.${version}.${kind}`;
}

function kindOf({ group, version }: KindRow, kind: string): Fields {
  return { group, version, kind };
}

const intOrString = [{ type: "integer" }, { type: "string" }];

/** Returns a schema as it is published, with the fields of the objects inside. */
function published(schema: Fields, version: Version): Fields {
  const all: Record<string, unknown> = { ...schema };
  for (const name of ["items", "additionalProperties"]) {
    const inner = all[name];
    if (typeof inner === "object" && inner !== null) all[name] = published(inner as Fields, version);
  }
  const properties = Object.entries((all["properties"] ?? {}) as Readonly<Record<string, Fields>>);
  if (properties.length > 0) {
    all["properties"] = Object.fromEntries(properties.map(([name, inner]) => [name, published(inner, version)]));
  }
  if (version === 3 && all["x-kubernetes-int-or-string"] === true && !saysEither(schema)) all["anyOf"] = intOrString;
  if (all["x-kubernetes-embedded-resource"] !== true || isOpen(schema, version)) return all;
  const required = new Set([...((all["required"] ?? []) as readonly string[]), "kind", "apiVersion"]);
  const fields = { ...(all["properties"] as Fields | undefined), ...objectFields(embeddedTexts, version) };
  return { ...all, required: [...required], properties: fields };
}

/** Whether a schema must declare no fields in v2, because kubectl would call every field wrong that is not declared. */
function isOpen(schema: Fields, version: Version): boolean {
  return version === 2 && schema["x-kubernetes-preserve-unknown-fields"] === true;
}

/** Whether a schema names the types itself, at one of the two places where it may. */
function saysEither({ anyOf, allOf }: Fields): boolean {
  return anyOf !== undefined || (allOf as readonly Fields[] | undefined)?.[0]?.["anyOf"] !== undefined;
}

const listing =
  "allowWatchBookmarks continue fieldSelector labelSelector limit resourceVersion resourceVersionMatch sendInitialEvents shardSelector timeoutSeconds watch";
const writing = "dryRun fieldManager fieldValidation";
const deleting =
  "dryRun gracePeriodSeconds ignoreStoreReadErrorWithClusterBreakingPotential orphanDependents propagationPolicy";
const bodyTypes = ["application/json", "application/yaml"];
const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

/** Returns the operations of a kind by their paths. */
function operationsOf(row: KindRow): Record<string, Fields> {
  const { group, version, kind, listKind, plural, namespaced } = row;
  const [own, list] = [schemaName(row, kind), schemaName(row, listKind)];
  const [status, options] = [`${meta}.Status`, `${meta}.DeleteOptions`];
  const root = `/apis/${group}/${version}`;
  const base = `${root}/${namespaced ? "namespaces/{namespace}/" : ""}${plural}`;
  const scope = namespaced ? "Namespaced" : "";
  const trimmed = group.replace(/\.k8s\.io$/, "");
  const [prefix, tag] = [identifier(trimmed, true) + identifier(version, true), identifier(trimmed, false)];
  const parameters = (names: string, action = ""): Fields[] => {
    const known = sharedParts().parameters;
    return names.split(" ").flatMap((name) => {
      if (name === "namespace" && !namespaced) return [];
      const parameter = known.get(`${action} ${name}`) ?? known.get(name)!;
      return [name === "name" ? { ...parameter, description: `name of the ${kind}` } : parameter];
    });
  };
  const operation = (action: string, { id, ...of }: OperationOptions): Fields => ({
    tags: [`${tag}_${identifier(version, false)}`],
    description: of.description,
    operationId: id,
    ...(of.parameters !== undefined && { parameters: parameters(of.parameters, action) }),
    ...(of.body !== undefined && {
      requestBody: {
        content: contentOf(of.body, action === "patch" ? patchTypes : bodyTypes),
        ...(action !== "delete" && { required: true }),
      },
    }),
    responses: {
      ...Object.fromEntries(
        of.codes.map((code) => [code, { description: phrases[code], content: contentOf(of.response, bodyTypes) }]),
      ),
      401: { description: "Unauthorized" },
    },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kindOf(row, kind),
  });
  /** What can be done with an object, or with a part of it. */
  const object = (part: string, response: string): Fields => {
    const of = part === "" ? "" : `${part.toLowerCase()} of `;
    const name = `${prefix}${scope}${kind}${part}`;
    return {
      get: operation("get", {
        id: `read${name}`,
        description: `read ${of}the specified ${kind}`,
        parameters: "resourceVersion",
        response,
        codes: [200],
      }),
      put: operation("put", {
        id: `replace${name}`,
        description: `replace ${of}the specified ${kind}`,
        parameters: writing,
        body: response,
        response,
        codes: [200, 201],
      }),
      patch: operation("patch", {
        id: `patch${name}`,
        description: `partially update ${of}the specified ${kind}`,
        parameters: `${writing} force`,
        body: `${meta}.Patch`,
        response,
        codes: [200],
      }),
      parameters: parameters("name namespace pretty"),
    };
  };
  const lists = { description: `list objects of kind ${kind}`, response: list, codes: [200] };
  const paths: Record<string, Fields> = {
    [base]: {
      get: operation("list", { id: `list${prefix}${scope}${kind}`, parameters: listing, ...lists }),
      post: operation("post", {
        id: `create${prefix}${scope}${kind}`,
        description: `create a ${kind}`,
        parameters: writing,
        body: own,
        response: own,
        codes: [200, 201, 202],
      }),
      delete: operation("deletecollection", {
        id: `delete${prefix}Collection${scope}${kind}`,
        description: `delete collection of ${kind}`,
        parameters: listing,
        response: status,
        codes: [200],
      }),
      parameters: parameters("namespace pretty"),
    },
    [`${base}/{name}`]: {
      ...object("", own),
      delete: operation("delete", {
        id: `delete${prefix}${scope}${kind}`,
        description: `delete a ${kind}`,
        parameters: deleting,
        body: options,
        response: status,
        codes: [200, 202],
      }),
    },
  };
  for (const { name } of row.subresources) {
    paths[`${base}/{name}/${name}`] = name === "scale" ? object("Scale", scale) : object("Status", own);
  }
  if (namespaced) {
    paths[`${root}/${plural}`] = {
      get: operation("list", { id: `list${prefix}${kind}ForAllNamespaces`, ...lists }),
      parameters: parameters(`${listing} pretty`).toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1)),
    };
  }
  return paths;
}

interface OperationOptions {
  readonly id: string;
  readonly description: string;
  /** The names of its parameters. */
  readonly parameters?: string;
  /** The name of the schema of what is sent. */
  readonly body?: string;
  /** The name of the schema of what is returned. */
  readonly response: string;
  readonly codes: readonly number[];
}

const phrases: Readonly<Record<number, string>> = { 200: "OK", 201: "Created", 202: "Accepted" };

function contentOf(schema: string, types: readonly string[]): Fields {
  return Object.fromEntries(types.map((type) => [type, { schema: reference(schema, 3) }]));
}

/** Makes a text an identifier: what is neither a letter nor a digit goes, and the letter after it is a capital. */
function identifier(text: string, isCapital: boolean): string {
  const joined = text.replaceAll(/[^\p{L}\p{Nd}_]+(.?)/gu, (_, next: string) => next.toUpperCase());
  return isCapital ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}
