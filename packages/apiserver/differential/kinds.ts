/**
 * Kinds that represent the ways in which a server stores objects: built-in and custom ones, with and without namespace.
 */
import { define, definitionOf } from "./custom-kinds.ts";
import type { Session } from "./session.ts";

export interface Kind {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** What an object needs besides its metadata. */
  readonly rest: Readonly<Record<string, unknown>>;
  readonly subresources: readonly string[];
}

const labels = { app: "a" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.test/main" }] } };

export const configMap: Kind = {
  name: "config map",
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  rest: { data: { a: "1" } },
  subresources: [],
};

export const deployment: Kind = {
  name: "deployment",
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  rest: { spec: { replicas: 1, selector: { matchLabels: labels }, template } },
  subresources: ["status", "scale"],
};

const gadgetGroup = "families.example.test";

export const gadget: Kind = {
  name: "gadget",
  apiVersion: `${gadgetGroup}/v1`,
  kind: "Gadget",
  plural: "gadgets",
  namespaced: true,
  rest: { spec: { size: 1 } },
  subresources: ["status", "scale"],
};

export const gizmo: Kind = {
  name: "gizmo",
  apiVersion: `${gadgetGroup}/v1`,
  kind: "Gizmo",
  plural: "gizmos",
  namespaced: false,
  rest: { spec: { size: 1 } },
  subresources: ["status"],
};

export function collectionOf({ apiVersion, plural, namespaced }: Kind, namespace: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}

export function objectOf({ apiVersion, kind, rest }: Kind, metadata: object, fields: object = {}): object {
  return { apiVersion, kind, metadata, ...rest, ...fields };
}

/** Creates the definitions of the custom kinds and a namespace. */
export async function prepareKinds(session: Session): Promise<void> {
  await session.createNamespace();
  for (const kind of [gadget, gizmo]) await define(session, definition(kind));
}

const part = {
  type: "object",
  required: ["key"],
  properties: { key: { type: "string" }, value: { type: "integer", default: 7 } },
};

const specSchema = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 0, maximum: 100 },
    color: { type: "string", enum: ["red", "green"], default: "red" },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    parts: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key"],
      items: part,
    },
    plain: { type: "array", items: { type: "string" } },
    map: { type: "object", additionalProperties: { type: "string" } },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

function definition({ kind, plural, namespaced, subresources }: Kind): object {
  const status = { type: "object", properties: { replicas: { type: "integer" }, state: { type: "string" } } };
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" };
  return definitionOf({
    group: gadgetGroup,
    plural,
    kind,
    scope: namespaced ? "Namespaced" : "Cluster",
    names: { singular: kind.toLowerCase(), listKind: `${kind}List` },
    schema: { type: "object", properties: { spec: specSchema, status } },
    version: {
      subresources: { status: {}, ...(subresources.includes("scale") && { scale }) },
      additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      selectableFields: [{ jsonPath: ".spec.color" }],
    },
  });
}
