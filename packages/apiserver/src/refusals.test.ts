import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiServer, createApiServer } from "./server.ts";

let server: ApiServer;
const root = "/api/v1/namespaces/refusals";
const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/refusals/rolebindings";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const container = { name: "a", image: "i" };

interface Answer {
  readonly code: number;
  readonly message: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly unknown[];
  readonly spec: { readonly resources: unknown };
  readonly details: { readonly causes: readonly { readonly field: string }[] };
  readonly warning: string | null;
}

interface Sent {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

async function send(method: string, path: string, { body, type, accept }: Sent = {}): Promise<Answer> {
  const headers = { accept: accept ?? "application/json", "content-type": type ?? "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await server.fetch(new Request(`http://server${path}`, init));
  const answer = (await response.json()) as Answer;
  return { ...answer, code: response.status, warning: response.headers.get("warning") };
}

beforeAll(async () => {
  server = await createApiServer();
  await send("POST", "/api/v1/namespaces", { body: { metadata: { name: "refusals" } } });
  await send("POST", `${root}/pods`, { body: { metadata: { name: "p" }, spec: { containers: [container] } } });
  await send("POST", `${root}/configmaps`, { body: { metadata: { name: "c" } } });
});

afterAll(async () => {
  await server.stop();
});

test.each<[string, string, Sent, number, string]>([
  [
    "GET",
    `${root}/events/e?resourceVersion=x`,
    {},
    400,
    'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  [
    "GET",
    `${root}/configmaps/c?resourceVersion=x`,
    {},
    500,
    'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  ["OPTIONS", `${root}/pods/%252e`, {}, 405, "the server does not allow this method on the requested resource"],
  ["GET", `${root}/pods/%252e`, {}, 400, "Name parameter invalid: \"%2e\": may not contain '%'"],
  [
    "POST",
    `${root}/pods/p/eviction`,
    { body: { apiVersion: "policy/v1beta1", kind: "Nope" } },
    400,
    'Eviction in version "v1" cannot be handled as a Eviction: the object is a Nope of policy/v1beta1',
  ],
  [
    "POST",
    `${root}/pods/p/eviction`,
    { body: { apiVersion: "policy/v1beta1", kind: "Eviction", deleteOptions: { dryRun: "x" } } },
    400,
    'Eviction in version "v1beta1" cannot be handled as a Eviction: json: cannot unmarshal string into deleteOptions.dryRun of type []string',
  ],
  [
    "POST",
    `${root}/bindings`,
    { body: { metadata: {}, target: { kind: "Nope", name: "n" } } },
    500,
    'target.kind: Unsupported value: "Nope": supported values: "Node", "<empty>"',
  ],
  [
    "POST",
    `${root}/resourcequotas`,
    {
      body: {
        metadata: { name: "q" },
        spec: {
          hard: { secrets: "0" },
          scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }] },
        },
      },
    },
    422,
    'ResourceQuota "q" is invalid: spec.scopeSelector.matchExpressions: Invalid value: [{"operator":"Exists","scopeName":"PriorityClass"}]: unsupported scope applied to resource',
  ],
  [
    "PUT",
    "/apis/apps/v1/namespaces/refusals/deployments/d/scale",
    { body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec: "x" } },
    400,
    'Scale in version "v1" cannot be handled as a Scale: the object is a Deployment of apps/v1',
  ],
  [
    "POST",
    `${root}/configmaps?fieldManager=a%0Ab`,
    { body: {}, type: "application/vnd.kubernetes.protobuf" },
    422,
    'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
  ],
  ["PATCH", `${root}/pods/%252e`, { body: {} }, 415, "415: Unsupported Media Type"],
  [
    "GET",
    `${root}/pods/%252e`,
    { accept: "image/png" },
    406,
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  ],
  [
    "POST",
    "/apis/apiregistration.k8s.io/v1/apiservices",
    {
      body: {
        metadata: { name: "v1.g.example.test", generateName: "x" },
        spec: { group: "g.example.test", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
      },
    },
    422,
    'APIService.apiregistration.k8s.io "v1.g.example.test" is invalid: metadata.generateName: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.g.example.test"',
  ],
  [
    "POST",
    "/apis/apiregistration.k8s.io/v1/apiservices",
    {
      body: {
        metadata: { name: "a/b" },
        spec: { group: "g.example.test", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
      },
    },
    422,
    'APIService.apiregistration.k8s.io "a/b" is invalid: metadata.name: Invalid value: "a/b": may not contain \'/\'',
  ],
  [
    "POST",
    `${root}/configmaps`,
    { type: "application/vnd.kubernetes.protobuf" },
    400,
    "the object provided is unrecognized (must be of type ConfigMap): it is not in the protobuf encoding of Kubernetes",
  ],
  ["GET", "/version", { type: "text/plain" }, 415, "415: Unsupported Media Type"],
  [
    "DELETE",
    `${root}/configmaps?labelSelector=a%3Db`,
    { body: { orphanDependents: "x", gracePeriodSeconds: "x" } },
    400,
    "the options of the deletion have a gracePeriodSeconds of another type",
  ],
  [
    "DELETE",
    `${root}/events?fieldSelector=spec.color%3Dred`,
    { body: { propagationPolicy: "x" } },
    400,
    "field label not supported: spec.color",
  ],
  [
    "POST",
    `${root}/pods/p/eviction?dryRun=All&dryRun=All`,
    {
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" }, deleteOptions: { dryRun: ["All"] } },
    },
    500,
    "Non-matching dry-run options in request and content: [All All] and [All]",
  ],
  [
    "POST",
    "/apis/coordination.k8s.io/v1/namespaces/refusals/leases",
    { body: { metadata: { name: "l" }, spec: { renewTime: 'ä"' } } },
    400,
    'Lease in version "v1" cannot be handled as a Lease: parsing time "ä\\"": it is no time of RFC 3339',
  ],
  [
    "POST",
    definitions,
    {
      body: {
        spec: {
          names: { kind: [] },
          versions: [{ schema: { openAPIV3Schema: { properties: { a: { items: { type: {} } } } } } }],
        },
      },
    },
    400,
    'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: cannot unmarshal array into spec.names.kind of type string',
  ],
])("%s %s is refused as on kube-apiserver (%#)", async (method, path, sent, code, message) => {
  expect(await send(method, path, sent)).toMatchObject({ code, message });
});

test("a list of one name is read at its key, whatever the limit, and an earlier state otherwise", async () => {
  const { metadata } = await send("GET", `${root}/configmaps`);
  await send("POST", `${root}/configmaps`, { body: { metadata: { name: "later" } } });
  const query = `limit=5&resourceVersion=${metadata.resourceVersion}`;
  expect((await send("GET", `${root}/configmaps?${query}`)).items).toHaveLength(1);
  expect((await send("GET", `${root}/configmaps?${query}&fieldSelector=metadata.name%3Dlater`)).items).toHaveLength(1);
  // A deletion reads pages, so that it finds the earlier state too.
  const gone = await send("DELETE", `${root}/configmaps?resourceVersion=1&labelSelector=a%3Db&dryRun=All`);
  expect(gone).toMatchObject({ code: 200, items: [], metadata: { resourceVersion: "1" } });
});

test("pods have no tables of what is resized, and requests of containers become those of the pod", async () => {
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  expect((await send("GET", `${root}/pods/p/resize`, { accept: table })).code).toBe(406);
  expect((await send("GET", `${root}/pods/p/resize`, { accept: `${table},application/json` })).kind).toBe("Pod");
  const spec = {
    containers: [{ ...container, resources: { requests: { memory: "64Mi" } } }],
    initContainers: [{ ...container, name: "b", resources: { requests: { memory: "1Gi" } } }],
    resources: { limits: { cpu: "1" } },
  };
  const made = await send("POST", `${root}/pods`, { body: { metadata: { name: "whole" }, spec } });
  expect(made.spec.resources).toEqual({ limits: { cpu: "1" }, requests: { cpu: "1", memory: "1Gi" } });
  const small = { ...spec, resources: { requests: { memory: "128Mi" } } };
  expect((await send("POST", `${root}/pods`, { body: { metadata: { name: "small" }, spec: small } })).message).toBe(
    'Pod "small" is invalid: spec.resources.requests[memory]: Invalid value: "128Mi": must be greater than or equal to aggregate container requests of 1Gi',
  );
});

test("an update of a binding is validated as a new one before it is compared", async () => {
  const roleRef = { kind: "Role", name: "r", apiGroup: "rbac.authorization.k8s.io" };
  await send("POST", rbac, { body: { metadata: { name: "b", finalizers: ["example.com/a"] }, roleRef } });
  const finalizers = ["a b"];
  const subjects = [{ kind: "", name: "x" }];
  const { details } = await send("PUT", `${rbac}/b`, {
    body: { metadata: { name: "b", finalizers }, roleRef, subjects },
  });
  expect(details.causes.map(({ field }) => field)).toEqual([
    "metadata.finalizers",
    "metadata.finalizers",
    "metadata.finalizers[0]",
    "subjects[0].kind",
    "metadata.finalizers[0]",
  ]);
});

test("a finalizer that is added twice to an object that goes is named once", async () => {
  const finalizers = ["example.com/a"];
  await send("POST", `${root}/secrets`, { body: { metadata: { name: "going", finalizers } } });
  await send("DELETE", `${root}/secrets/going`);
  const body = { metadata: { finalizers: [...finalizers, "example.com/b", "example.com/b"] } };
  const { message } = await send("PATCH", `${root}/secrets/going`, { body, type: "application/merge-patch+json" });
  expect(message).toEndWith('found new finalizers []string{"example.com/b"}');
});

test("a definition that keeps unknown fields has no defaults, and schemas of items are decoded leniently", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "array", items: { type: "string", extra: 1 } }, b: { type: "string", default: "x" } },
  };
  const body = {
    metadata: { name: "strays.example.test" },
    spec: {
      group: "example.test",
      scope: "Namespaced",
      names: { plural: "strays", kind: "Stray" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
  expect(await send("POST", `${definitions}?dryRun=All`, { body })).toMatchObject({ code: 201, warning: null });
  const unnamed = { ...body, spec: { ...body.spec, names: { ...body.spec.names, categories: [""] } } };
  expect((await send("POST", definitions, { body: unnamed })).message).toContain(
    'spec.names.categories[0]: Invalid value: "": a DNS-1035 label must consist of',
  );
  const [first] = body.spec.versions;
  const other = { type: "object", properties: { b: { type: "string" }, c: { type: "string" } } };
  const second = { ...first, name: "v2", storage: false, schema: { openAPIV3Schema: other } };
  const versions = [first, second].map((version) => ({ ...version, selectableFields: [{ jsonPath: ".b" }] }));
  expect((await send("POST", definitions, { body: { ...body, spec: { ...body.spec, versions } } })).message).toEndWith(
    'is invalid: spec.selectableFields: Invalid value: "": may only be set when validations.schema is included',
  );
  const kept = { ...body, spec: { ...body.spec, preserveUnknownFields: true } };
  expect((await send("POST", definitions, { body: kept })).message).toContain(
    "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema, spec.preserveUnknownFields",
  );
});

test("a page goes on as long as there are objects, whether or not they are selected", async () => {
  const { metadata, items } = await send("GET", `${root}/configmaps?limit=1&fieldSelector=metadata.name!%3Dlater`);
  expect(items).toHaveLength(1);
  expect(metadata).toHaveProperty("continue");
  const one = await send("GET", `${root}/configmaps?limit=1&fieldSelector=metadata.name%3Dc`);
  expect(one.items).toHaveLength(1);
  expect(one.metadata).not.toHaveProperty("continue");
});
