/** Server-side apply of invalid objects: every part is missing, of another type, or of another object. */
import type { Family, Probe } from "./family.ts";
import { collectionOf, configMap, deployment, gadget, type Kind, objectOf, prepareKinds } from "../kinds.ts";

/** Metadata of the object `one`; what is `undefined` is left out. */
const metadata: readonly unknown[] = [
  undefined,
  null,
  [],
  {},
  ...[null, "", "other", "Not Valid", 1].map((name) => ({ name })),
  { generateName: "one-" },
  { namespace: "other" },
  { Name: "one" },
  ...[
    { generateName: "one-" },
    { namespace: "" },
    { namespace: "other" },
    { namespace: 1 },
    { managedFields: null },
    { managedFields: [] },
    { managedFields: [{}] },
    { managedFields: [{ manager: "x", operation: "Apply" }] },
    { managedFields: "x" },
    { uid: "x" },
    { uid: "" },
    { resourceVersion: "" },
    { resourceVersion: "1" },
    { resourceVersion: "abc" },
    { resourceVersion: 1 },
    { generation: 9 },
    { creationTimestamp: "2020-01-02T03:04:05Z" },
    { creationTimestamp: "yesterday" },
    { deletionTimestamp: "2020-01-02T03:04:05Z" },
    { labels: "x" },
    { labels: { a: 1 } },
    { labels: { a: null } },
    { labels: { "a b": "c" } },
    { annotations: { "a/b/c": "x" } },
    { finalizers: ["x"] },
    { finalizers: ["example.test/x", "example.test/x"] },
    { ownerReferences: [{}] },
    { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "" }] },
    { ownerReferences: [1] },
    { nope: "x" },
  ].map((fields) => ({ name: "one", ...fields })),
];

/** Other kinds and versions of the object. */
const types: readonly object[] = [
  ...[undefined, null, "", 1, "v9", "v1", "apps/v1", "apps/v9", "a/b/c", "nope.test/v1"].map((apiVersion) => ({
    apiVersion,
  })),
  ...[undefined, null, "", 1, "Pod", "Nope"].map((kind) => ({ kind })),
  { kind: undefined, apiVersion: undefined },
  { kind: "Pod", metadata: { name: "other" } },
];

const queries: readonly string[] = [
  "",
  "fieldManager=",
  `fieldManager=${"m".repeat(129)}`,
  "fieldManager=a%0Ab",
  "fieldManager=m&force=true",
  "fieldManager=m&force=x",
  "fieldManager=m&dryRun=None",
  "fieldManager=m&dryRun=All&dryRun=All",
  "fieldManager=m&fieldValidation=Strict",
  "fieldManager=m&fieldValidation=strict",
  "fieldManager=m&fieldManager=n",
];

async function refusalsOf(kind: Kind, probe: Probe): Promise<void> {
  await prepareKinds(probe.session);
  const collection = collectionOf(kind, probe.namespace);
  const one = objectOf(kind, { name: "one" });
  await probe.quietly("POST", collection, one);
  const dry = "fieldManager=m&dryRun=All";
  const apply = async (place: string, query: string, more: object): Promise<void> => {
    const label = `apply ${JSON.stringify(more)} to ${place}?${query.slice(0, 60)}`;
    await probe.patch(label, `${collection}/${place}?${query}`, { ...one, ...more }, "apply");
  };
  for (const place of ["one", "none", ...kind.subresources.map((name) => `one/${name}`)]) {
    for (const fields of metadata) await apply(place, dry, { metadata: fields });
    for (const more of types) await apply(place, dry, more);
    for (const query of queries) await apply(place, query, {});
  }
  for (const place of ["", "one/nope"]) await apply(place, "fieldManager=m", {});
  for (const type of [
    "apply-patch+yaml; charset=utf-8",
    "Apply-Patch+Yaml",
    "apply-patch",
    "apply-patch+cbor",
    "yaml",
  ]) {
    const headers = { "content-type": `application/${type}` };
    await probe.send(`apply as ${type}`, "PATCH", `${collection}/one?${dry}`, { headers, body: one });
  }
}

export const applyRefusals: readonly Family[] = [configMap, deployment, gadget].map((kind) => ({
  name: `apply refused ${kind.name}`,
  share: 0.15,
  run: (probe) => refusalsOf(kind, probe),
}));
