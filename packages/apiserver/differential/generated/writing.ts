/** Exchanges that create and update: valid, invalid, in conflict, of what is absent. */
import { jsonPatch, mergePatch, strategicPatch, type Subject } from "./subject.ts";

export async function writeAbsent(subject: Subject): Promise<void> {
  const { path } = subject;
  if (subject.supports("update")) await subject.general("update absent", "PUT", path, { body: subject.object() });
  if (subject.supports("patch")) {
    const body = { metadata: { labels: { x: "y" } } };
    await subject.general("merge patch absent", "PATCH", path, { headers: mergePatch, body });
    await subject.general("strategic patch absent", "PATCH", path, { headers: strategicPatch, body });
    const operations = [{ op: "add", path: "/metadata/labels/x", value: "y" }];
    await subject.general("json patch absent", "PATCH", path, { headers: jsonPatch, body: operations });
  }
  if (subject.supports("delete")) await subject.general("delete absent", "DELETE", path);
}

export async function createInvalid(subject: Subject): Promise<void> {
  const { session, collection } = subject;
  const create = async (label: string, body: unknown, query = "?dryRun=All") =>
    await subject.general(label, "POST", `${collection}${query}`, { body });
  const { apiVersion, kind } = subject.object();
  await create("create nothing", "");
  await create("create what is not JSON", "{nope");
  await create("create a text", '"text"');
  await create("create without kind", { metadata: { name: subject.name } });
  await create("create another kind", { ...subject.object(), kind: "Nope" });
  await create("create another version", { ...subject.object(), apiVersion: "nope/v1" });
  const bare = { apiVersion, kind, metadata: { name: subject.name } };
  await session.post("create empty", `${collection}?dryRun=All`, { apiVersion, kind });
  await session.post("create with the name alone", `${collection}?dryRun=All`, bare);
  if (subject.freelyNamed) await create("create with a bad name", subject.object({ name: "Bad_Name!" }));
  await create("create with bad labels", subject.object({ labels: { "a b": "c" } }));
  await create("create with a bad value of a label", subject.object({ labels: { ok: "not ok!" } }));
  await create("create with bad annotations", subject.object({ annotations: { "a b": "c" } }));
  await create("create with a bad finalizer", subject.object({ finalizers: ["nope"] }));
  await create(
    "create with a bad owner",
    subject.object({ ownerReferences: [{ apiVersion: "v1", kind: "", name: "", uid: "" }] }),
  );
  await create("create with labels of a wrong type", subject.object({ labels: { a: 1 } }));
  await create("create in another namespace", subject.object({ namespace: "elsewhere" }));
  await create("create with a version", subject.object({ resourceVersion: "5" }));
  await create("create with an unknown field", { ...subject.object(), nope: 1 }, "?fieldValidation=Strict");
  await create(
    "create with an unknown field, warned",
    { ...subject.object(), nope: 1 },
    "?fieldValidation=Warn&dryRun=All",
  );
  await create("create with a bad fieldValidation", subject.object(), "?fieldValidation=Nope");
  await create("create with a bad dryRun", subject.object(), "?dryRun=Nope");
  await create("create with a long manager", subject.object(), `?fieldManager=${"x".repeat(130)}`);
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
  const refusal = async (label: string, body: unknown) => await subject.general(label, "PUT", path, { body });
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

export async function patch(subject: Subject): Promise<void> {
  const { session, path } = subject;
  const send = async (label: string, headers: Record<string, string>, body: unknown, query = "") =>
    await session.send(label, "PATCH", `${path}${query}`, { headers, body });
  const refusal = async (label: string, headers: Record<string, string>, body: unknown, query = "") =>
    await subject.general(label, "PATCH", `${path}${query}`, { headers, body });
  await send("merge patch", mergePatch, { metadata: { labels: { merge: "yes" }, annotations: { a: "1" } } });
  await send("merge patch again", mergePatch, { metadata: { labels: { merge: "yes" } } });
  await send("merge patch that removes", mergePatch, { metadata: { annotations: { a: null } } });
  await refusal("merge patch in conflict", mergePatch, { metadata: { resourceVersion: "2", labels: { merge: "no" } } });
  await refusal("merge patch of the name", mergePatch, { metadata: { name: "other" } });
  await refusal("merge patch of a wrong type", mergePatch, { metadata: { labels: "text" } });
  await refusal("merge patch that is no JSON", mergePatch, "{nope");
  await refusal("merge patch of an unknown field", mergePatch, { nope: 1 }, "?fieldValidation=Strict");
  await send("strategic patch", strategicPatch, {
    metadata: { labels: { strategic: "yes" }, finalizers: ["example.test/a"] },
  });
  await send("strategic patch that deletes", strategicPatch, {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["example.test/a"] },
  });
  await send("strategic patch with a bad directive", strategicPatch, { metadata: { labels: { $patch: "nope" } } });
  await send("json patch", jsonPatch, [
    { op: "test", path: "/metadata/name", value: subject.name },
    { op: "add", path: "/metadata/labels/json", value: "yes" },
  ]);
  await refusal("json patch whose test fails", jsonPatch, [{ op: "test", path: "/metadata/name", value: "nope" }]);
  await refusal("json patch of a missing path", jsonPatch, [{ op: "replace", path: "/nope/x", value: 1 }]);
  await refusal("json patch that is no list", jsonPatch, { op: "add" });
  await refusal("json patch of an unknown operation", jsonPatch, [{ op: "nope", path: "/metadata/labels/x" }]);
  await refusal("patch of an unknown type", { "content-type": "application/nope" }, {});
  await send("patch dry", mergePatch, { metadata: { labels: { dry: "yes" } } }, "?dryRun=All");
  await send("patch with force", mergePatch, { metadata: { labels: { dry: "yes" } } }, "?force=true");
  for (const [index, change] of (subject.sample.changes ?? []).entries()) {
    await send(`change ${index + 1} ${JSON.stringify(change).slice(0, 80)}`, mergePatch, change);
  }
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
