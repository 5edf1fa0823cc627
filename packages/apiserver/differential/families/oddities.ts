/** Managed fields written by hand, names that are taken, and definitions that are refused. */
import { define, definitionOf, definitions, versionOf, withSpec } from "../custom-kinds.ts";
import { pairs } from "../sampling.ts";
import type { Loose } from "../session.ts";
import type { Family, Probe } from "./family.ts";
import { collectionOf, configMap, deployment, gadget, objectOf, prepareKinds } from "../kinds.ts";

const entries: Readonly<Record<string, readonly unknown[]>> = {
  none: [],
  "an empty one": [{}],
  "of an unknown version": [entry({ apiVersion: "v9" })],
  "of an old version": [entry({ apiVersion: "apps/v1beta1" })],
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
  "of both": [entry({}), entry({ manager: "b", operation: "Update" })],
};

function entry(more: object): object {
  const fieldsV1 = { "f:metadata": { "f:labels": { "f:l": {} } } };
  return { manager: "hand", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1, ...more };
}

async function managers(probe: Probe): Promise<void> {
  await prepareKinds(probe.session);
  for (const [kind, [label, managedFields]] of pairs([configMap, deployment, gadget], Object.entries(entries))) {
    const collection = collectionOf(kind, probe.namespace);
    const name = label.replaceAll(/[^a-z]+/g, "-");
    const metadata = { name, labels: { l: "1" } };
    await probe.quietly("POST", collection, objectOf(kind, metadata));
    const path = `${collection}/${name}`;
    await probe.patch(`patch ${kind.name} with ${label}`, path, { metadata: { managedFields } });
    await probe.patch(`then change ${kind.name} with ${label}`, path, { metadata: { labels: { l: "2" } } });
    const newObject = objectOf(kind, { ...metadata, name: `${name}-new`, managedFields });
    await probe.post(`create ${kind.name} with ${label}`, `${collection}?dryRun=All`, newObject);
    const application = objectOf(kind, { name, managedFields });
    await probe.patch(`apply ${kind.name} with ${label}`, `${path}?fieldManager=m&dryRun=All`, application, "apply");
  }
}

const group = "oddities.example.test";

async function takenNames(probe: Probe): Promise<void> {
  const { session } = probe;
  const first = { plural: "firsts", singular: "first", kind: "First", listKind: "FirstList", shortNames: ["fi", "fo"] };
  const others: Readonly<Record<string, { plural: string; kind: string; [name: string]: unknown }>> = {
    none: first,
    plural: { plural: "first", kind: "A" },
    "short names": { plural: "ds", kind: "D", shortNames: ["fi", "fo", "free"] },
    kind: { plural: "es", kind: "First", singular: "e", listKind: "EList" },
    "list kind": { plural: "fs", kind: "F", listKind: "FirstList" },
    everything: { ...first, plural: "hs" },
  };
  for (const [label, names] of Object.entries(others)) {
    const path = `${definitions}/${names.plural}.${group}`;
    await probe.quietly("POST", definitions, definitionOf({ ...names, group, names }));
    await session.waitFor(path, (object: Loose) => Array.isArray(object?.status?.conditions));
    await session.noticed(500);
    await session.get(`taken ${label}`, path);
  }
}

async function refusedDefinitions(probe: Probe): Promise<void> {
  const webhook = (clientConfig: object | undefined, versions: readonly string[] = ["v1"]): object => ({
    conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: versions } },
  });
  const service = { name: "s", namespace: "n" };
  const specs: readonly object[] = [
    ...["http://x", "/x", "https://u:p@x/y?q=1#f", "https://x/y?q=1"].map((url) => webhook({ url })),
    webhook({ url: "https://x", service }),
    webhook({}),
    webhook(undefined),
    webhook({ service: { namespace: "n" } }),
    webhook({ service: { ...service, port: 0 } }),
    webhook({ service: { ...service, path: "x//y" } }),
    webhook({ url: "http://x" }, []),
    webhook({ service }, ["v2", "v2", "V_3"]),
    { conversion: { strategy: "Mine" } },
  ];
  const path = `${definitions}?dryRun=All`;
  const names = { plural: "js", kind: "J" };
  for (const spec of specs)
    await probe.post(`spec ${JSON.stringify(spec)}`, path, definitionOf({ ...names, group, spec }));
  for (const metadata of [{ name: undefined, generateName: "x" }, { name: "wrong" }, {}])
    await probe.post(`named ${JSON.stringify(metadata)}`, path, { ...definitionOf({ ...names, group }), metadata });
}

/** Writes objects in a version that has more fields than the stored one. */
async function lossyVersions(probe: Probe): Promise<void> {
  const { session, namespace } = probe;
  const string = { type: "string" };
  const kind = { group: `${namespace}.example.test`, plural: "widgets", kind: "Widget", scope: "Cluster" } as const;
  await define(
    session,
    definitionOf({
      ...kind,
      versions: [
        versionOf("v1alpha1", withSpec({ a: string, b: { ...string, default: "bb" } })),
        versionOf("v1", withSpec({ a: string })),
      ],
    }),
  );
  const path = (version: string): string => `/apis/${kind.group}/${version}/widgets`;
  const widget = (version: string, name: string, spec: object): object => ({
    apiVersion: `${kind.group}/${version}`,
    kind: "Widget",
    metadata: { name },
    spec,
  });
  for (const version of ["v1", "v1alpha1"]) {
    const name = `of-${version}`;
    const one = `${path("v1alpha1")}/${name}`;
    await probe.quietly("POST", path(version), widget(version, name, { a: "1" }));
    await session.get(`read ${version}`, one);
    const application = widget("v1alpha1", name, { b: "2" });
    await session.patch(`apply beside ${version}`, `${one}?fieldManager=m`, application, "apply");
    await session.patch(`patch beside ${version}`, one, { spec: { b: "3" } });
    await session.get(`read ${version} after it`, `${path("v1")}/${name}`);
  }
}

export const oddities: readonly Family[] = [
  { name: "managers written by hand", share: 0.4, run: managers },
  { name: "names that are taken", run: takenNames },
  { name: "definitions that are refused", run: refusedDefinitions },
  { name: "versions that lose fields", run: lossyVersions },
];
