/** Requests that create, update, patch and apply: valid ones, invalid ones, conflicts, writes of absent objects. */
import type { patchTypes } from "../session.ts";
import type { Subject } from "./subject.ts";

export async function writeAbsent(subject: Subject): Promise<void> {
  const { path, general } = subject;
  if (subject.supports("update")) await general.put("update absent", path, subject.object());
  if (subject.supports("patch")) {
    const body = { metadata: { labels: { x: "y" } } };
    await general.patch("merge patch absent", path, body);
    await general.patch("strategic patch absent", path, body, "strategic");
    await general.patch("json patch absent", path, [{ op: "add", path: "/metadata/labels/x", value: "y" }], "json");
  }
  if (subject.supports("delete")) await general.delete("delete absent", path);
}

export async function createInvalid(subject: Subject): Promise<void> {
  const { session, collection, general } = subject;
  const whole = subject.object();
  const { apiVersion, kind } = whole;
  const dry = `${collection}?dryRun=All`;
  const bodies: Readonly<Record<string, unknown>> = {
    nothing: "",
    "what is not JSON": "{nope",
    "a text": '"text"',
    "without kind": { metadata: { name: subject.name } },
    "another kind": { ...whole, kind: "Nope" },
    "another version": { ...whole, apiVersion: "nope/v1" },
    ...(subject.freelyNamed && { "with a bad name": subject.object({ name: "Bad_Name!" }) }),
    "with bad labels": subject.object({ labels: { "a b": "c" } }),
    "with a bad value of a label": subject.object({ labels: { ok: "not ok!" } }),
    "with bad annotations": subject.object({ annotations: { "a b": "c" } }),
    "with a bad finalizer": subject.object({ finalizers: ["nope"] }),
    "with a bad owner": subject.object({ ownerReferences: [{ apiVersion: "v1", kind: "", name: "", uid: "" }] }),
    "with labels of a wrong type": subject.object({ labels: { a: 1 } }),
    "in another namespace": subject.object({ namespace: "elsewhere" }),
    "with a version": subject.object({ resourceVersion: "5" }),
  };
  for (const [label, body] of Object.entries(bodies)) await general.post(`create ${label}`, dry, body);
  await session.post("create empty", dry, { apiVersion, kind });
  await session.post("create with the name alone", dry, { apiVersion, kind, metadata: { name: subject.name } });
  const unknown = { ...whole, nope: 1 };
  await general.post("create with an unknown field", `${collection}?fieldValidation=Strict`, unknown);
  await general.post("create with an unknown field, warned", `${dry}&fieldValidation=Warn`, unknown);
  await general.post("create with a bad fieldValidation", `${collection}?fieldValidation=Nope`, whole);
  await general.post("create with a bad dryRun", `${collection}?dryRun=Nope`, whole);
  await general.post("create with a long manager", `${collection}?fieldManager=${"x".repeat(130)}`, whole);
}

export async function createValid(subject: Subject): Promise<void> {
  const { session, collection } = subject;
  const body = subject.object();
  await session.post("create dry", `${collection}?dryRun=All`, body);
  if (subject.sample.full) {
    const full = subject.object({}, subject.sample.full);
    await session.post("create the full one dry", `${collection}?dryRun=All&fieldValidation=Strict`, full);
  }
  await session.post("create", `${collection}?fieldManager=tester`, body);
  await session.post("create again", collection, body);
  if (!subject.freelyNamed) return;
  const { labels } = body.metadata;
  const metadata = { generateName: `${session.slug}-gen-`, labels };
  const generated = await session.post("create with a generated name", collection, { ...body, metadata });
  const name: string | undefined = generated?.metadata?.name;
  if (name) await subject.remove(name);
}

export async function update(subject: Subject): Promise<void> {
  const { session, path } = subject;
  const live = async () => await session.quietly("GET", path);
  const put = async (label: string, body: unknown, query = "") => await session.put(label, `${path}${query}`, body);
  const refusal = async (label: string, body: unknown) => await subject.general.put(label, path, body);
  await put("update without a change", await live());
  const stale = await live();
  const variant = (metadata: object) => ({ ...stale, metadata: { ...stale?.metadata, ...metadata } });
  await put("update dry", variant({ labels: { ...stale?.metadata?.labels, dry: "yes" } }), "?dryRun=All");
  await put("update a label", variant({ labels: { ...stale?.metadata?.labels, put: "yes" } }), "?fieldManager=updater");
  await put("update in conflict", variant({ labels: { ...stale?.metadata?.labels, put: "no" } }));
  const fresh = await live();
  const next = (metadata: object) => ({ ...fresh, metadata: { ...fresh?.metadata, ...metadata } });
  await refusal("update another name", next({ name: "other" }));
  await refusal("update another namespace", next({ namespace: "other" }));
  await refusal("update another uid", next({ uid: "11111111-2222-3333-4444-555555555555" }));
  await refusal("update with bad labels", next({ labels: { "a b": "c" } }));
  await put("update without a version", next({ resourceVersion: undefined, annotations: { unversioned: "yes" } }));
  await refusal("update with a bad version", next({ resourceVersion: "nope" }));
  await refusal("update another kind", { ...fresh, kind: "Nope" });
  await refusal("update nothing", "");
}

type PatchType = keyof typeof patchTypes;

/** Patches that change nothing because they are refused, by what is wrong. */
const refusedPatches: Readonly<Record<string, readonly [type: PatchType, body: unknown, query?: string]>> = {
  "merge patch in conflict": ["merge", { metadata: { resourceVersion: "2", labels: { merge: "no" } } }],
  "merge patch of the name": ["merge", { metadata: { name: "other" } }],
  "merge patch of a wrong type": ["merge", { metadata: { labels: "text" } }],
  "merge patch that is no JSON": ["merge", "{nope"],
  "merge patch of an unknown field": ["merge", { nope: 1 }, "?fieldValidation=Strict"],
  "json patch whose test fails": ["json", [{ op: "test", path: "/metadata/name", value: "nope" }]],
  "json patch of a missing path": ["json", [{ op: "replace", path: "/nope/x", value: 1 }]],
  "json patch that is no list": ["json", { op: "add" }],
  "json patch of an unknown operation": ["json", [{ op: "nope", path: "/metadata/labels/x" }]],
};

export async function patch(subject: Subject): Promise<void> {
  const { session, path, general } = subject;
  const labels = (value: object): object => ({ metadata: { labels: value } });
  await session.patch("merge patch", path, { metadata: { labels: { merge: "yes" }, annotations: { a: "1" } } });
  await session.patch("merge patch again", path, labels({ merge: "yes" }));
  await session.patch("merge patch that removes", path, { metadata: { annotations: { a: null } } });
  for (const [label, [type, body, query = ""]] of Object.entries(refusedPatches))
    await general.patch(label, `${path}${query}`, body, type);
  const finalizers = ["example.test/a"];
  const addition = { metadata: { labels: { strategic: "yes" }, finalizers } };
  await session.patch("strategic patch", path, addition, "strategic");
  const removal = { metadata: { "$deleteFromPrimitiveList/finalizers": finalizers } };
  await session.patch("strategic patch that deletes", path, removal, "strategic");
  await session.patch("strategic patch with a bad directive", path, labels({ $patch: "nope" }), "strategic");
  const operations = [
    { op: "test", path: "/metadata/name", value: subject.name },
    { op: "add", path: "/metadata/labels/json", value: "yes" },
  ];
  await session.patch("json patch", path, operations, "json");
  const headers = { "content-type": "application/nope" };
  await general.send("patch of an unknown type", "PATCH", path, { headers, body: {} });
  await session.patch("patch dry", `${path}?dryRun=All`, labels({ dry: "yes" }));
  await session.patch("patch with force", `${path}?force=true`, labels({ dry: "yes" }));
  for (const [index, change] of (subject.sample.changes ?? []).entries())
    await session.patch(`change ${index + 1} ${JSON.stringify(change).slice(0, 80)}`, path, change);
  await session.get("get after the changes", path);
}

export async function apply(subject: Subject): Promise<void> {
  const { session, collection } = subject;
  const name = subject.freelyNamed ? `${session.slug}-applied` : subject.name;
  const path = `${collection}/${name}`;
  const send = async (label: string, body: unknown, query: string) =>
    await session.patch(label, `${path}${query}`, body, "apply");
  const body = (metadata: object, fields?: object) =>
    subject.object({ name, ...metadata }, fields as Record<string, unknown>);
  if (subject.sample.settled) session.settleWith(path, subject.sample.settled);
  await send("apply without a manager", body({}), "");
  await send("apply what is not YAML", "a: b: c", "?fieldManager=one");
  await send("apply another name", body({ name: "other" }), "?fieldManager=one");
  await send("apply with managed fields", body({ managedFields: [{ manager: "x" }] }), "?fieldManager=one");
  await send("apply dry", body({}), "?fieldManager=one&dryRun=All");
  await send("apply new", body({ annotations: { a: "1" } }), "?fieldManager=one");
  await send("apply again", body({ annotations: { a: "1" } }), "?fieldManager=one");
  await send("apply in conflict", body({ annotations: { a: "2" } }), "?fieldManager=two");
  await send("apply with force", body({ annotations: { a: "2", b: "3" } }), "?fieldManager=two&force=true");
  await send("apply without a field", body({ annotations: { b: "3" } }), "?fieldManager=two");
  await send("apply an unknown field", { ...body({}), nope: 1 }, "?fieldManager=one");
  if (subject.sample.full && subject.freelyNamed)
    await send("apply the full one", body({}, subject.sample.full), "?fieldManager=three&force=true");
  if (subject.freelyNamed) await subject.remove(name);
  if (subject.sample.settled) session.settleWith(subject.path, subject.sample.settled);
}
