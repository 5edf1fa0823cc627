/** Exchanges with the subresources that discovery names. */
import { apiVersionOf } from "../discovery.ts";
import { applyPatch, mergePatch, type Subject } from "./subject.ts";

export async function subresources(subject: Subject): Promise<void> {
  for (const { name } of subject.served.subresources) {
    if (name === "status") await status(subject);
    else if (name === "scale") await scale(subject);
  }
}

async function status(subject: Subject): Promise<void> {
  const { session, path, served } = subject;
  const at = `${path}/status`;
  const patch = subject.sample.status ?? {};
  await session.send("get status", "GET", at);
  await session.send("status of absent", "GET", `${subject.collection}/absent/status`);
  const live = await session.quietly("GET", path);
  await session.send("update status", "PUT", at, { body: { ...live, status: { ...live?.status, ...patch } } });
  await session.send("update status in conflict", "PUT", at, {
    body: { ...live, status: { ...patch }, metadata: { ...live?.metadata, resourceVersion: "2" } },
  });
  await session.send("patch status", "PATCH", at, {
    headers: mergePatch,
    body: { status: patch, metadata: { labels: { statuslabel: "yes" } } },
  });
  await session.send("patch status of a wrong type", "PATCH", at, { headers: mergePatch, body: { status: "text" } });
  await session.send("patch spec through status", "PATCH", at, {
    headers: mergePatch,
    body: { ...subject.sample.changes?.[0] },
  });
  const applied = {
    apiVersion: apiVersionOf(served),
    kind: served.kind,
    metadata: { name: subject.name },
    status: patch,
  };
  await session.send("apply status", "PATCH", `${at}?fieldManager=statuser&force=true`, {
    headers: applyPatch,
    body: applied,
  });
  await session.send("patch status through the object", "PATCH", path, {
    headers: mergePatch,
    body: { status: patch },
  });
  await session.send("delete status", "DELETE", at);
}

async function scale(subject: Subject): Promise<void> {
  const { session, path } = subject;
  const at = `${path}/scale`;
  const live = await session.send("get scale", "GET", at);
  await session.send("scale of absent", "GET", `${subject.collection}/absent/scale`);
  await session.send("update scale", "PUT", at, { body: { ...live, spec: { replicas: 5 } } });
  await session.send("update scale in conflict", "PUT", at, {
    body: { ...live, spec: { replicas: 6 }, metadata: { ...live?.metadata, resourceVersion: "2" } },
  });
  await session.send("update scale below zero", "PUT", at, {
    body: { ...live, metadata: { ...live?.metadata, resourceVersion: undefined }, spec: { replicas: -1 } },
  });
  await session.send("patch scale", "PATCH", at, { headers: mergePatch, body: { spec: { replicas: 2 } } });
  await session.send("patch scale of a wrong type", "PATCH", at, {
    headers: mergePatch,
    body: { spec: { replicas: "two" } },
  });
  const applied = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: subject.name },
    spec: { replicas: 4 },
  };
  await session.send("apply scale", "PATCH", `${at}?fieldManager=scaler&force=true`, {
    headers: applyPatch,
    body: applied,
  });
  await session.send("get after scaling", "GET", path);
}
