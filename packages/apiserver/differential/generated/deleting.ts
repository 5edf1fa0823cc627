/** Exchanges that delete: preconditions, finalizers, propagation, collections. */
import type { Subject } from "./subject.ts";

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
  await session.patch("hold", path, { metadata: { finalizers: ["example.test/hold"] } });
  await remove("delete what is held", undefined, "?gracePeriodSeconds=0");
  await session.get("get what is going", path);
  await session.patch("add a finalizer to what is going", path, {
    metadata: { finalizers: ["example.test/hold", "example.test/more"] },
  });
  await session.patch("label what is going", path, { metadata: { labels: { last: "yes" } } });
  await session.patch("release what is going", path, { metadata: { finalizers: null } });
  await session.get("get what is gone", path);
  if (subject.served.kind === "Namespace") return;
  await session.quietly("POST", collection, subject.object());
  await remove("delete leaving orphans", { propagationPolicy: "Orphan" }, "?gracePeriodSeconds=0");
  await session.get("get the one that leaves orphans", path);
  const orphaning = await session.quietly("GET", path);
  if (orphaning?.metadata?.finalizers)
    await session.quietly("PUT", path, { ...orphaning, metadata: { ...orphaning.metadata, finalizers: [] } });
  await session.quietly("POST", collection, subject.object());
  await remove("delete in the background", { propagationPolicy: "Background" }, "?gracePeriodSeconds=0");
  await session.quietly("POST", collection, subject.object({ labels: { case: session.slug, last: "yes" } }));
  await session.delete("delete the collection dry", `${collection}?labelSelector=case%3D${session.slug}&dryRun=All`);
  await session.delete(
    "delete the collection",
    `${collection}?labelSelector=case%3D${session.slug}&gracePeriodSeconds=0`,
  );
  await session.get("get after all", path);
}
