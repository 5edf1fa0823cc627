/** Requests that read: absent and present objects, lists, tables, watches. */
import type { Subject } from "./subject.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const metadataList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
const protobuf = "application/vnd.kubernetes.protobuf, application/json";

export async function readAbsent(subject: Subject): Promise<void> {
  const { collection, path, general } = subject;
  await general.get("get absent", path);
  await general.get("get absent as table", path, table);
  if (!subject.supports("list") || !subject.served.namespaced) return;
  await general.get("list nothing", collection);
  await general.get("list nothing as table", collection, table);
}

export async function readPresent(subject: Subject): Promise<void> {
  const { session, collection, path, general } = subject;
  const own = `labelSelector=case%3D${session.slug}`;
  await general.get("get", path);
  await general.get("get as table", path, table);
  await general.get("get metadata", path, metadata);
  await general.get("get in protobuf", path, protobuf);
  await general.get("get something unacceptable", path, "text/csv");
  if (!subject.supports("list")) return;
  await general.get("list by label", `${collection}?${own}`);
  await general.get("list by label as table with objects", `${collection}?${own}&includeObject=Object`, table);
  await general.get("list by label as table without objects", `${collection}?${own}&includeObject=None`, table);
  await general.get("list metadata", `${collection}?${own}`, metadataList);
  await general.get("list by name", `${collection}?fieldSelector=metadata.name%3D${subject.name}`);
  await general.get("list by an unknown field", `${collection}?fieldSelector=spec.nope%3D1`);
  await general.get("list by a bad label selector", `${collection}?labelSelector=a%3D%3D%3Db`);
  await general.get("list in protobuf", `${collection}?${own}`, protobuf);
  await general.get("list with a bad continue", `${collection}?limit=1&continue=nope`);
}

/** Watches the objects of the case from a version before its first write. */
export async function watchAll(subject: Subject, version: string): Promise<void> {
  if (!subject.supports("watch")) return;
  const { session, collection, name } = subject;
  const query = `watch=1&resourceVersion=${version}&labelSelector=case%3D${session.slug}&timeoutSeconds=5`;
  await session.watch(`${collection}?${query}`, {
    label: "watch from the beginning",
    until: ({ type, object }) =>
      type === "DELETED" && object?.metadata?.name === name && object?.metadata?.labels?.last === "yes",
  });
}
