/** Scales in every form, with bodies of every version, of objects that cause warnings. */
import { collectionOf, deployment, gadget, type Kind, objectOf, prepareKinds } from "./kinds.ts";
import { pairs } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";

const accepts: Readonly<Record<string, string>> = {
  json: "application/json",
  table: "application/json;as=Table;v=v1;g=meta.k8s.io",
  "older table": "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
  metadata: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "metadata of a list": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  yaml: "application/yaml",
  text: "text/plain",
};

const versions = [
  "autoscaling/v1",
  "autoscaling/v2",
  "apps/v1",
  "apps/v1beta1",
  "apps/v1beta2",
  "extensions/v1beta1",
  "v1",
  "a/b/c",
  "",
];

const statefulSet: Kind = {
  ...deployment,
  name: "stateful set",
  kind: "StatefulSet",
  plural: "statefulsets",
  rest: { spec: { ...(deployment.rest["spec"] as object), serviceName: "s" } },
};
const replicaSet: Kind = { ...deployment, name: "replica set", kind: "ReplicaSet", plural: "replicasets" };
const controller: Kind = {
  ...deployment,
  name: "replication controller",
  apiVersion: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  rest: {
    spec: {
      replicas: 1,
      selector: { app: "a" },
      template: (deployment.rest["spec"] as { readonly template: object }).template,
    },
  },
};
const scaled = [deployment, statefulSet, replicaSet, controller, gadget];

async function scales(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const spread = {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
  };
  for (const kind of scaled) {
    const collection = collectionOf(kind, probe.namespace);
    const object = objectOf(kind, { name: "s" }) as {
      readonly spec: { readonly template?: { readonly spec: object } };
    };
    const { template } = object.spec;
    const spec = template && { ...object.spec, template: { ...template, spec: { ...template.spec, ...spread } } };
    await probe.quietly("POST", collection, { ...object, ...(spec && { spec }) });
    const path = `${collection}/s/scale`;
    for (const [label, accept] of Object.entries(accepts)) {
      const headers = { accept };
      await probe.send(`get ${kind.name} as ${label}`, "GET", path, { headers });
      const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "s" }, spec: { replicas: 2 } };
      await probe.send(`put ${kind.name} as ${label}`, "PUT", `${path}?dryRun=All`, { headers, body });
      const merge = { ...headers, "content-type": "application/merge-patch+json" };
      const call = { headers: merge, body: { spec: { replicas: 3 } } };
      await probe.send(`patch ${kind.name} as ${label}`, "PATCH", `${path}?dryRun=All`, call);
    }
    for (const [version, name] of pairs(versions, ["Scale", "Deployment"])) {
      // The handler of custom objects in kube-apiserver also converts older versions of scales, which this server does
      // not know.
      if (kind === gadget && name === "Scale" && version.includes("beta")) continue;
      const body = { apiVersion: version, kind: name, metadata: { name: "s" }, spec: { replicas: 2 } };
      await probe.put(`put ${kind.name} with ${version} ${name}`, `${path}?dryRun=All`, body);
    }
    for (const replicas of [0, 1, 2, -1, 2.5, "3", null, 1e10]) {
      const headers = { "content-type": "application/merge-patch+json" };
      await probe.send(`scale ${kind.name} to ${replicas}`, "PATCH", path, { headers, body: { spec: { replicas } } });
    }
    const headers = { "content-type": "application/apply-patch+yaml" };
    const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "s" }, spec: { replicas: 4 } };
    await probe.send(`apply ${kind.name}`, "PATCH", `${path}?fieldManager=m&force=true`, { headers, body });
    await probe.get(`read ${kind.name}`, `${collection}/s`);
  }
}

export const scaling: readonly Family[] = [{ name: "scales", share: 0.2, run: scales }];
