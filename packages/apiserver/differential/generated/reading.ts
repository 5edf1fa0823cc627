/** Exchanges that read: absent, present, listed, shown as a table, watched. */
import type { Subject } from "./subject.ts";

const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const partial = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json" };
const partialList = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json" };

const protobuf = { accept: "application/vnd.kubernetes.protobuf, application/json" };

export async function readAbsent(subject: Subject): Promise<void> {
  const { collection, path } = subject;
  await subject.general("get absent", "GET", path);
  await subject.general("get absent as table", "GET", path, { headers: table });
  if (subject.supports("list") && subject.served.namespaced) {
    await subject.general("list nothing", "GET", collection);
    await subject.general("list nothing as table", "GET", collection, { headers: table });
  }
}

export async function readPresent(subject: Subject): Promise<void> {
  const { session, collection, path } = subject;
  const ours = `labelSelector=case%3D${session.slug}`;
  await subject.general("get", "GET", path);
  await subject.general("get as table", "GET", path, { headers: table });
  await subject.general("get metadata", "GET", path, { headers: partial });
  await subject.general("get in protobuf", "GET", path, { headers: protobuf });
  await subject.general("get something unacceptable", "GET", path, { headers: { accept: "text/csv" } });
  if (!subject.supports("list")) return;
  await subject.general("list by label", "GET", `${collection}?${ours}`);
  await subject.general("list by label as table with objects", "GET", `${collection}?${ours}&includeObject=Object`, {
    headers: table,
  });
  await subject.general("list by label as table without objects", "GET", `${collection}?${ours}&includeObject=None`, {
    headers: table,
  });
  await subject.general("list metadata", "GET", `${collection}?${ours}`, { headers: partialList });
  await subject.general("list by name", "GET", `${collection}?fieldSelector=metadata.name%3D${subject.name}`);
  await subject.general("list by an unknown field", "GET", `${collection}?fieldSelector=spec.nope%3D1`);
  await subject.general("list by a bad label selector", "GET", `${collection}?labelSelector=a%3D%3D%3Db`);
  await subject.general("list in protobuf", "GET", `${collection}?${ours}`, { headers: protobuf });
  await subject.general("list with a bad continue", "GET", `${collection}?limit=1&continue=nope`);
}

/** Watches the objects of the case from a version before its first write. */
export async function watchAll(subject: Subject, version: string): Promise<void> {
  if (!subject.supports("watch")) return;
  const { session, collection, name } = subject;
  const query = `watch=1&resourceVersion=${version}&labelSelector=case%3D${session.slug}&timeoutSeconds=5`;
  await session.watch(`${collection}?${query}`, {
    label: "watch from the beginning",
    until: (event) =>
      event?.type === "DELETED" &&
      event?.object?.metadata?.name === name &&
      event?.object?.metadata?.labels?.last === "yes",
  });
}
