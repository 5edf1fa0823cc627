/** Kinds that represent the ways in which a server stores objects: built-in and custom ones, with and without namespace. */
import type { Probe } from "./family.ts";

export interface Kind {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** What an object needs besides its metadata. */
  readonly rest: Readonly<Record<string, unknown>>;
  /** A field that may change at any time. */
  readonly change: Readonly<Record<string, unknown>>;
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
  change: { data: { a: "2", b: "3" } },
  subresources: [],
};

export const deployment: Kind = {
  name: "deployment",
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  rest: { spec: { replicas: 1, selector: { matchLabels: labels }, template } },
  change: { spec: { replicas: 2 } },
  subresources: ["status", "scale"],
};

export const pod: Kind = {
  name: "pod",
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
  rest: { spec: template.spec },
  change: { spec: { containers: [{ name: "main", image: "example.test/other" }] } },
  subresources: ["status", "ephemeralcontainers", "resize"],
};

export const service: Kind = {
  name: "service",
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  rest: { spec: { selector: labels, ports: [{ port: 80 }] } },
  change: { spec: { selector: { app: "b" } } },
  subresources: ["status"],
};

export const clusterRole: Kind = {
  name: "cluster role",
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
  rest: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  change: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }] },
  subresources: [],
};

const gadgetGroup = "families.example.test";

export const gadget: Kind = {
  name: "gadget",
  apiVersion: `${gadgetGroup}/v1`,
  kind: "Gadget",
  plural: "gadgets",
  namespaced: true,
  rest: { spec: { size: 1 } },
  change: { spec: { size: 2 } },
  subresources: ["status", "scale"],
};

export const gizmo: Kind = {
  name: "gizmo",
  apiVersion: `${gadgetGroup}/v1`,
  kind: "Gizmo",
  plural: "gizmos",
  namespaced: false,
  rest: { spec: { size: 1 } },
  change: { spec: { size: 2 } },
  subresources: ["status"],
};

export const kinds: readonly Kind[] = [configMap, deployment, clusterRole, gadget, gizmo];

export function collectionOf({ apiVersion, plural, namespaced }: Kind, namespace: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}

export function objectOf({ apiVersion, kind, rest }: Kind, metadata: object, fields: object = {}): object {
  return { apiVersion, kind, metadata, ...rest, ...fields };
}

/** Creates the definitions of the custom kinds and a namespace. */
export async function prepareKinds(probe: Probe): Promise<void> {
  await probe.createNamespace();
  for (const kind of [gadget, gizmo]) await define(probe, kind);
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

async function define(probe: Probe, { kind, plural, namespaced, subresources }: Kind): Promise<void> {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const status = { type: "object", properties: { replicas: { type: "integer" }, state: { type: "string" } } };
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" };
  await probe.quietly("POST", definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${gadgetGroup}` },
    spec: {
      group: gadgetGroup,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: specSchema, status } } },
          subresources: { status: {}, ...(subresources.includes("scale") && { scale }) },
          additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
          selectableFields: [{ jsonPath: ".spec.color" }],
        },
      ],
    },
  });
  await probe.session.waitFor(`/apis/${gadgetGroup}/v1/${plural}`, (list) => list?.kind === `${kind}List`);
  // Its schema is in use a moment after the definition is established.
  await probe.session.noticed(300);
}
