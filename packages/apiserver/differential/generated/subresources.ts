/** Exchanges with the subresources that discovery names. */
import { apiVersionOf } from "../discovery.ts";
import type { Subject } from "./subject.ts";

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
  await session.get("get status", at);
  await session.get("status of absent", `${subject.collection}/absent/status`);
  const live = await session.quietly("GET", path);
  await session.put("update status", at, { ...live, status: { ...live?.status, ...patch } });
  await session.put("update status in conflict", at, {
    ...live,
    status: { ...patch },
    metadata: { ...live?.metadata, resourceVersion: "2" },
  });
  await session.patch("patch status", at, { status: patch, metadata: { labels: { statuslabel: "yes" } } });
  await session.patch("patch status of a wrong type", at, { status: "text" });
  await session.patch("patch spec through status", at, { ...subject.sample.changes?.[0] });
  const application = {
    apiVersion: apiVersionOf(served),
    kind: served.kind,
    metadata: { name: subject.name },
    status: patch,
  };
  await session.patch("apply status", `${at}?fieldManager=statuser&force=true`, application, "apply");
  await session.patch("patch status through the object", path, { status: patch });
  await session.delete("delete status", at);
}

async function scale(subject: Subject): Promise<void> {
  const { session, path } = subject;
  const at = `${path}/scale`;
  const live = await session.get("get scale", at);
  await session.get("scale of absent", `${subject.collection}/absent/scale`);
  await session.put("update scale", at, { ...live, spec: { replicas: 5 } });
  await session.put("update scale in conflict", at, {
    ...live,
    spec: { replicas: 6 },
    metadata: { ...live?.metadata, resourceVersion: "2" },
  });
  await session.put("update scale below zero", at, {
    ...live,
    metadata: { ...live?.metadata, resourceVersion: undefined },
    spec: { replicas: -1 },
  });
  await session.patch("patch scale", at, { spec: { replicas: 2 } });
  await session.patch("patch scale of a wrong type", at, { spec: { replicas: "two" } });
  const application = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: subject.name },
    spec: { replicas: 4 },
  };
  await session.patch("apply scale", `${at}?fieldManager=scaler&force=true`, application, "apply");
  await session.get("get after scaling", path);
}
