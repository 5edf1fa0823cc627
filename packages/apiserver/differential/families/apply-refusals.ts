/** Server-side apply of invalid objects: every part is missing, of another type, or of another object. */
import type { Loose } from "../session.ts";
import { type Family, pairs, type Probe } from "./family.ts";
import { collectionOf, type Kind, kinds, objectOf, prepareKinds } from "./kinds.ts";

const headers = { "content-type": "application/apply-patch+yaml" };
const absent = Symbol("absent");

const metadata: readonly unknown[] = [
  absent,
  null,
  [],
  "x",
  {},
  { name: null },
  { name: "" },
  { name: "other" },
  { name: "Not Valid" },
  { name: 1 },
  { name: ["one"] },
  { generateName: "one-" },
  { name: "one", generateName: "one-" },
  { name: "one", namespace: "" },
  { name: "one", namespace: null },
  { name: "one", namespace: "other" },
  { name: "other", namespace: "other" },
  { namespace: "other" },
  { name: "one", namespace: 1 },
  { name: "one", managedFields: null },
  { name: "one", managedFields: [] },
  { name: "one", managedFields: [{}] },
  { name: "one", managedFields: [{ manager: "x", operation: "Apply" }] },
  { name: "one", managedFields: {} },
  { name: "one", managedFields: "x" },
  { name: "one", uid: "x" },
  { name: "one", uid: "" },
  { name: "one", uid: 1 },
  { name: "one", resourceVersion: "" },
  { name: "one", resourceVersion: "0" },
  { name: "one", resourceVersion: "1" },
  { name: "one", resourceVersion: "abc" },
  { name: "one", resourceVersion: 1 },
  { name: "one", generation: 9 },
  { name: "one", generation: "9" },
  { name: "one", creationTimestamp: null },
  { name: "one", creationTimestamp: "2020-01-02T03:04:05Z" },
  { name: "one", creationTimestamp: "yesterday" },
  { name: "one", deletionTimestamp: "2020-01-02T03:04:05Z" },
  { name: "one", deletionGracePeriodSeconds: 5 },
  { name: "one", selfLink: "/x" },
  { name: "one", labels: "x" },
  { name: "one", labels: { a: 1 } },
  { name: "one", labels: { a: null } },
  { name: "one", labels: { "a b": "c" } },
  { name: "one", labels: { a: "b c" } },
  { name: "one", annotations: { a: true } },
  { name: "one", annotations: { "a/b/c": "x" } },
  { name: "one", finalizers: ["x"] },
  { name: "one", finalizers: ["example.test/x", "example.test/x"] },
  { name: "one", finalizers: "example.test/x" },
  { name: "one", ownerReferences: [{}] },
  { name: "one", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] },
  { name: "one", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "" }] },
  { name: "one", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", nope: 1 }] },
  { name: "one", ownerReferences: [1] },
  { name: "one", nope: "x" },
  { name: "one", clusterName: "x" },
  { Name: "one" },
];

const versions: readonly unknown[] = [
  absent,
  null,
  "",
  1,
  [],
  "v9",
  "v1",
  "apps/v1",
  "apps/v9",
  "a/b/c",
  "/v1",
  "nope.test/v1",
];
const names: readonly unknown[] = [absent, null, "", 1, {}, "Pod", "Nope", "LOWER", "LIST"];

const queries: readonly string[] = [
  "",
  "fieldManager=",
  `fieldManager=${"m".repeat(129)}`,
  "fieldManager=a%0Ab",
  "fieldManager=a%20b",
  "fieldManager=m&force=true",
  "fieldManager=m&force=false",
  "fieldManager=m&force=",
  "fieldManager=m&force=x",
  "fieldManager=m&dryRun=All",
  "fieldManager=m&dryRun=",
  "fieldManager=m&dryRun=None",
  "fieldManager=m&dryRun=All&dryRun=All",
  "fieldManager=m&fieldValidation=Strict",
  "fieldManager=m&fieldValidation=Warn",
  "fieldManager=m&fieldValidation=Ignore",
  "fieldManager=m&fieldValidation=strict",
  "fieldManager=m&fieldValidation=x&dryRun=x",
  "fieldValidation=x&force=true",
  "fieldManager=m&fieldManager=n",
  "fieldManager=m&pretty=true",
  "fieldManager=m&nope=1",
];

const types: readonly string[] = [
  "application/apply-patch+yaml; charset=utf-8",
  "application/apply-patch+yaml;",
  "Application/Apply-Patch+Yaml",
  "application/apply-patch",
  "application/apply-patch+json",
  "application/apply-patch+cbor",
  "application/yaml",
  "",
];

function given(kind: Kind, value: unknown): unknown {
  if (value === "LOWER") return kind.kind.toLowerCase();
  return value === "LIST" ? `${kind.kind}List` : value;
}

function without(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== absent));
}

function shown(value: unknown): string {
  return value === absent ? "absent" : JSON.stringify(value);
}

async function refusalsOf(kind: Kind, probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const collection = collectionOf(kind, probe.namespace);
  const one = objectOf(kind, { name: "one" }) as Record<string, unknown>;
  await probe.quietly("POST", collection, one);
  const places = ["one", "none", ...kind.subresources.map((name) => `one/${name}`)];
  const apply = async (label: string, path: string, body: unknown): Promise<Loose> =>
    await probe.send(label, "PATCH", `${collection}/${path}`, { headers, body });
  for (const [place, value] of pairs(places, metadata)) {
    const name =
      place === "none"
        ? JSON.parse(JSON.stringify(value === absent ? null : value).replaceAll('"one"', '"none"'))
        : value;
    const body = without({ ...one, metadata: value === absent ? absent : name });
    const label = `apply ${shown(value)} to ${place}`;
    await apply(label, `${place}?fieldManager=m&dryRun=All`, body);
    if (place === "one")
      await apply(
        `${label} by force, strictly`,
        `${place}?fieldManager=m&dryRun=All&force=true&fieldValidation=Strict`,
        body,
      );
  }
  for (const place of places) {
    for (const value of versions) {
      const label = `apply in version ${shown(value)} to ${place}`;
      await apply(label, `${place}?fieldManager=m&dryRun=All`, without({ ...one, apiVersion: value }));
    }
    for (const value of names) {
      const label = `apply the kind ${shown(value)} to ${place}`;
      await apply(label, `${place}?fieldManager=m&dryRun=All`, without({ ...one, kind: given(kind, value) }));
    }
    for (const query of queries) await apply(`apply ?${query.slice(0, 60)} to ${place}`, `${place}?${query}`, one);
  }
  await apply(
    "apply neither kind nor version",
    "one?fieldManager=m",
    without({ ...one, kind: absent, apiVersion: absent }),
  );
  await apply("apply another kind by another name", "one?fieldManager=m", {
    ...one,
    kind: "Pod",
    metadata: { name: "other" },
  });
  await apply("apply to the collection", "?fieldManager=m", one);
  await apply("apply to an unknown subresource", "one/nope?fieldManager=m", one);
  for (const type of types) {
    const call = { headers: { "content-type": type }, body: one };
    await probe.send(`apply as ${JSON.stringify(type)}`, "PATCH", `${collection}/one?fieldManager=m&dryRun=All`, call);
  }
}

export const applyRefusals: readonly Family[] = kinds.map((kind) => ({
  name: `apply refused ${kind.name}`,
  run: (probe) => refusalsOf(kind, probe),
}));
