/** Peculiarities of single kinds: taken names, managers written by hand, finalizers, reserved names. */
import { collectionOf, configMap, deployment, gadget, objectOf, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const entries: Readonly<Record<string, readonly unknown[]>> = {
  none: [],
  "an empty one": [{}],
  two: [{}, {}],
  "of an unknown version": [entry({ apiVersion: "v9" })],
  "of an old version": [entry({ apiVersion: "apps/v1beta1" })],
  "of another kind's version": [entry({ apiVersion: "batch/v1" })],
  "of no version": [entry({ apiVersion: "" })],
  "of an odd version": [entry({ apiVersion: "a/b/c" })],
  "with an unknown operation": [entry({ operation: "Delete" })],
  "of other fields": [entry({ fieldsType: "FieldsV2" })],
  "without fields": [entry({ fieldsV1: undefined })],
  "with fields that are none": [entry({ fieldsV1: { x: 1 } })],
  "with a time": [entry({ time: "2020-01-01T00:00:00Z" })],
  "of a subresource": [entry({ subresource: "status" })],
  "of a long name": [entry({ manager: "y".repeat(200) })],
  "of no name": [entry({ manager: "" })],
  "of an odd name": [entry({ manager: "a\nb" })],
  "of both": [entry({}), entry({ manager: "b", operation: "Update" })],
};

function entry(more: object): object {
  const fieldsV1 = { "f:metadata": { "f:labels": { "f:l": {} } } };
  return { manager: "hand", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1, ...more };
}

async function managers(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  for (const [kind, [label, managedFields]] of pairs([configMap, deployment, gadget], Object.entries(entries))) {
    const collection = collectionOf(kind, probe.namespace);
    const name = label.replaceAll(/[^a-z]+/g, "-");
    const metadata = { name, labels: { l: "1" } };
    await probe.quietly("POST", collection, objectOf(kind, metadata));
    const merge = { "content-type": "application/merge-patch+json" };
    const body = { metadata: { managedFields } };
    await probe.send(`patch ${kind.name} with ${label}`, "PATCH", `${collection}/${name}`, { body, headers: merge });
    await probe.send(`then change ${kind.name} with ${label}`, "PATCH", `${collection}/${name}`, {
      body: { metadata: { labels: { l: "2" } } },
      headers: merge,
    });
    await probe.send(`create ${kind.name} with ${label}`, "POST", `${collection}?dryRun=All`, {
      body: objectOf(kind, { ...metadata, name: `${name}-new`, managedFields }),
    });
    await probe.send(`apply ${kind.name} with ${label}`, "PATCH", `${collection}/${name}?fieldManager=m&dryRun=All`, {
      body: objectOf(kind, { name, managedFields }),
      headers: { "content-type": "application/apply-patch+yaml" },
    });
  }
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function definition(names: Readonly<Record<string, unknown>>, spec: object = {}, metadata: object = {}): object {
  const group = "oddities.example.test";
  const schema = { openAPIV3Schema: { type: "object" } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${String(names["plural"])}.${group}`, ...metadata },
    spec: {
      group,
      scope: "Namespaced",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema }],
      ...spec,
    },
  };
}

async function takenNames(probe: Probe): Promise<void> {
  const { session } = probe;
  const isDecided = (object: { readonly status?: { readonly conditions?: unknown } } | undefined): boolean =>
    Array.isArray(object?.status?.conditions);
  const first = { plural: "firsts", singular: "first", kind: "First", listKind: "FirstList", shortNames: ["fi", "fo"] };
  await probe.quietly("POST", definitions, definition(first));
  await session.waitFor(`${definitions}/firsts.oddities.example.test`, isDecided);
  await session.noticed(500);
  const others: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    plural: { plural: "first", kind: "A" },
    singular: { plural: "bs", singular: "first", kind: "B" },
    "short name": { plural: "cs", kind: "C", shortNames: ["fi"] },
    "short names": { plural: "ds", kind: "D", shortNames: ["fi", "fo", "free"] },
    kind: { plural: "es", singular: "e", kind: "First", listKind: "EList" },
    "list kind": { plural: "fs", kind: "F", listKind: "FirstList" },
    "kind of list": { plural: "gs", kind: "FirstList" },
    everything: { ...first, plural: "hs", categories: ["all"] },
    nothing: { plural: "is", kind: "I", categories: ["all"] },
  };
  for (const [label, names] of Object.entries(others)) {
    if (!probe.isChosen(label)) continue;
    await probe.quietly("POST", definitions, definition(names));
    const path = `${definitions}/${String(names["plural"])}.oddities.example.test`;
    await session.waitFor(path, isDecided);
    await session.noticed(300);
    await session.send(`taken ${label}`, "GET", path);
    await session.send(`deleted ${label}`, "DELETE", path);
  }
}

async function refusedDefinitions(probe: Probe): Promise<void> {
  const names = { plural: "js", kind: "J" };
  const webhook = (clientConfig: object | undefined, versions: readonly string[] = ["v1"]): object => ({
    conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: versions } },
  });
  const service = { name: "s", namespace: "n" };
  for (const [label, spec] of Object.entries({
    "an unsafe url": webhook({ url: "http://x" }),
    "a relative url": webhook({ url: "/x" }),
    "a url with a user": webhook({ url: "https://u:p@x/y?q=1#f" }),
    "a url with a query": webhook({ url: "https://x/y?q=1" }),
    "a url with an end": webhook({ url: "https://x/y?#" }),
    both: webhook({ url: "https://x", service }),
    neither: webhook({}),
    nothing: webhook(undefined),
    "a nameless service": webhook({ service: { namespace: "n" } }),
    "a service of nowhere": webhook({ service: { name: "s" } }),
    "a bad port": webhook({ service: { ...service, port: 0 } }),
    "a bad path": webhook({ service: { ...service, path: "x//y" } }),
    "no versions": webhook({ url: "http://x" }, []),
    "unknown versions": webhook({ service }, ["v2", "v2", "V_3"]),
    "a strategy of its own": { conversion: { strategy: "Mine" } },
    "none with a webhook": { conversion: { ...webhookOf(service), strategy: "None" } },
  }))
    await probe.send(`conversion by ${label}`, "POST", `${definitions}?dryRun=All`, { body: definition(names, spec) });
  for (const metadata of [{ name: undefined, generateName: "x" }, { generateName: "y" }, { name: "wrong" }, {}])
    await probe.send(`named ${JSON.stringify(metadata)}`, "POST", `${definitions}?dryRun=All`, {
      body: definition(names, {}, metadata),
    });
}

function webhookOf(service: object): object {
  return { webhook: { clientConfig: { service }, conversionReviewVersions: ["v1"] } };
}

async function namespaceFinalizers(probe: Probe): Promise<void> {
  const name = `${probe.namespace}-own`;
  await probe.createNamespace(name);
  for (const finalizers of [
    ["kubernetes", "bad one"],
    ["plain"],
    ["a.b/c"],
    [""],
    ["kubernetes", "kubernetes"],
    null,
  ]) {
    const body = { metadata: { name }, spec: { finalizers } };
    const label = JSON.stringify(finalizers);
    await probe.send(`finalize ${label}`, "PUT", `/api/v1/namespaces/${name}/finalize?dryRun=All`, { body });
    await probe.send(`put ${label}`, "PUT", `/api/v1/namespaces/${name}?dryRun=All`, { body });
    const created = { metadata: { name: `${name}-new` }, spec: { finalizers } };
    await probe.send(`create ${label}`, "POST", "/api/v1/namespaces?dryRun=All", { body: created });
  }
}

async function reservedNames(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All";
  for (const [name, value] of pairs(
    ["system-x", "system-node-critical", "system-cluster-critical", "system-", "mine"],
    [1, 2000001000, 2000000000, 1000000001],
  )) {
    await probe.send(`${name} ${value}`, "POST", classes, { body: { metadata: { name }, value } });
    const body = { metadata: { name }, value, globalDefault: true };
    await probe.send(`${name} ${value} by default`, "POST", classes, { body });
  }
  const owner = { apiVersion: "v1", kind: "A", name: "p", uid: "u" };
  const collection = `/api/v1/namespaces/${probe.namespace}/configmaps`;
  for (const [label, ownerReferences] of Object.entries({
    "two controllers": [
      { ...owner, controller: true },
      { ...owner, uid: "v", controller: true, blockOwnerDeletion: true },
    ],
    "an event": [{ ...owner, kind: "Event" }],
    nothing: [{}],
    "an odd version": [{ ...owner, apiVersion: "a/b/c" }],
    "the same twice": [owner, owner],
  }))
    await probe.send(`owned by ${label}`, "POST", `${collection}?dryRun=All`, {
      body: { metadata: { name: "o", ownerReferences } },
    });
  for (const length of [10, 57, 58, 59, 63, 200, 253, 254]) {
    const generateName = "x".repeat(length);
    await probe.send(`made of ${length}`, "POST", `${collection}?dryRun=All`, { body: { metadata: { generateName } } });
  }
}

const attributes: Readonly<Record<string, object>> = {
  none: {},
  both: { resourceAttributes: {}, nonResourceAttributes: {} },
  "both filled": { resourceAttributes: { verb: "get" }, nonResourceAttributes: { path: "/x", verb: "get" } },
  "a path": { nonResourceAttributes: { path: "/x", verb: "get" } },
  "half a path": { nonResourceAttributes: { verb: "get" } },
};

async function reviews(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const group = "authorization.k8s.io";
  for (const [kind, path] of [
    ["SubjectAccessReview", "subjectaccessreviews"],
    ["SelfSubjectAccessReview", "selfsubjectaccessreviews"],
    ["LocalSubjectAccessReview", `namespaces/${probe.namespace}/localsubjectaccessreviews`],
  ] as const) {
    for (const [[label, spec], user] of pairs(Object.entries(attributes), ["", "bob"])) {
      const body = { apiVersion: `${group}/v1`, kind, spec: { ...spec, ...(user !== "" && { user }) } };
      await probe.send(`${kind} of ${label} by ${user}`, "POST", `/apis/${group}/v1/${path}`, { body });
    }
  }
}

export const oddities: readonly Family[] = [
  { name: "managers written by hand", run: managers },
  { name: "names that are taken", run: takenNames },
  { name: "definitions that are refused", run: refusedDefinitions },
  { name: "finalizers of namespaces", run: namespaceFinalizers },
  { name: "names that are reserved", run: reservedNames },
  { name: "reviews of nothing", run: reviews },
];
