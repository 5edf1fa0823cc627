/** Exchanges that delete: preconditions, finalizers, propagation, collections. */
import { mergePatch, type Subject } from "./subject.ts";

export async function deleting(subject: Subject): Promise<void> {
  const { session, path, collection } = subject;
  const remove = async (label: string, options?: object, query = "") =>
    await session.send(
      label,
      "DELETE",
      `${path}${query}`,
      options ? { body: { kind: "DeleteOptions", apiVersion: "v1", ...options } } : {},
    );
  await remove("delete another uid", { preconditions: { uid: "11111111-2222-3333-4444-555555555555" } });
  await remove("delete another version", { preconditions: { resourceVersion: "2" } });
  await remove("delete with a bad propagation", { propagationPolicy: "Nope" });
  await remove("delete with two propagations", { propagationPolicy: "Orphan", orphanDependents: true });
  await remove("delete with bad options", { gracePeriodSeconds: "soon" });
  await remove("delete dry", undefined, "?dryRun=All");
  await session.send("hold", "PATCH", path, {
    headers: mergePatch,
    body: { metadata: { finalizers: ["example.test/hold"] } },
  });
  await remove("delete what is held", undefined, "?gracePeriodSeconds=0");
  await session.send("get what is going", "GET", path);
  await session.send("add a finalizer to what is going", "PATCH", path, {
    headers: mergePatch,
    body: { metadata: { finalizers: ["example.test/hold", "example.test/more"] } },
  });
  await session.send("label what is going", "PATCH", path, {
    headers: mergePatch,
    body: { metadata: { labels: { last: "yes" } } },
  });
  await session.send("release what is going", "PATCH", path, {
    headers: mergePatch,
    body: { metadata: { finalizers: null } },
  });
  await session.send("get what is gone", "GET", path);
  if (subject.served.kind === "Namespace") return;
  await session.quietly("POST", collection, subject.object());
  await remove("delete leaving orphans", { propagationPolicy: "Orphan" }, "?gracePeriodSeconds=0");
  await session.send("get the one that leaves orphans", "GET", path);
  const orphaning = await session.quietly("GET", path);
  if (orphaning?.metadata?.finalizers)
    await session.quietly("PUT", path, { ...orphaning, metadata: { ...orphaning.metadata, finalizers: [] } });
  await session.quietly("POST", collection, subject.object());
  await remove("delete in the background", { propagationPolicy: "Background" }, "?gracePeriodSeconds=0");
  await session.quietly("POST", collection, subject.object({ labels: { case: session.slug, last: "yes" } }));
  await session.send(
    "delete the collection dry",
    "DELETE",
    `${collection}?labelSelector=case%3D${session.slug}&dryRun=All`,
  );
  await session.send(
    "delete the collection",
    "DELETE",
    `${collection}?labelSelector=case%3D${session.slug}&gracePeriodSeconds=0`,
  );
  await session.send("get after all", "GET", path);
}
