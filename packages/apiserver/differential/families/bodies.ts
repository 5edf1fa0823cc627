/** Bodies that almost fit a path: other kinds, versions and media types. */
import { collectionOf, configMap, deployment, gadget, type Kind, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const types: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ConfigMap: {
    "a/b/c": "ConfigMap",
    v1: "List",
    "v1 ": "ConfigMap",
    "apps/v1": "Deployment",
    "apps/v1beta1": "Deployment",
    "/v1": "ConfigMap",
    "v1/": "ConfigMap",
    v2: "ConfigMap",
  },
  Deployment: {
    "apps/v1beta1": "Deployment",
    "apps/v1beta2": "Deployment",
    "extensions/v1beta1": "Deployment",
    "apps/v1beta3": "Deployment",
    "apps/v1": "DeploymentList",
    v1: "Pod",
    "batch/v1": "Deployment",
  },
  CustomResourceDefinition: {
    "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition",
    "apiextensions.k8s.io/v2": "CustomResourceDefinition",
  },
};
const others = [
  "v1 DeleteOptions",
  "v1 Status",
  "v1 ConfigMapList",
  "v1 PodList",
  "v1 WatchEvent",
  "v1 Binding",
  "apps/v1 DeleteOptions",
  "policy/v1 Eviction",
  "meta.k8s.io/v1 Table",
  "autoscaling/v1 Scale",
  "example.test/v1 Thing",
  "events.k8s.io/v1 Event",
  "rbac.authorization.k8s.io/v1beta1 Role",
];
const numbers = [
  "1e2",
  "1.0",
  "1.5",
  "-0",
  "99999999999999999999",
  "1e400",
  "-1",
  "9223372036854775807",
  "1E+1",
  "0.0",
];
const media = [
  "application/json; bad",
  "application/json;charset=utf-8",
  "application/json; charset=utf-8; charset=x",
  "application/json;",
  "APPLICATION/JSON",
  "application/json, text/plain",
  "text/plain",
  "text/json",
  "application/yaml; x=y",
  "application/x-yaml",
  "json",
  "*/*",
  ";",
];

async function otherKinds(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const send = async (label: string, [collection, body]: readonly [string, object]): Promise<void> => {
    await probe.send(`create ${label}`, "POST", `${collection}?dryRun=All`, { body });
    await probe.send(`put ${label}`, "PUT", `${collection}/absent?dryRun=All`, { body });
  };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const collections: Readonly<Record<string, string>> = {
    ConfigMap: collectionOf(configMap, probe.namespace),
    Deployment: collectionOf(deployment, probe.namespace),
    CustomResourceDefinition: definitions,
  };
  for (const [name, versions] of Object.entries(types)) {
    for (const [apiVersion, kind] of Object.entries(versions))
      await send(`${apiVersion} ${kind} as ${name}`, [
        collections[name]!,
        { apiVersion, kind, metadata: { name: "absent" } },
      ]);
  }
  for (const [kind, other] of pairs([configMap, deployment, gadget], others)) {
    const [apiVersion, name] = other.split(" ");
    const body = { apiVersion, kind: name, metadata: { name: "absent" } };
    await send(`${other} as ${kind.name}`, [collectionOf(kind, probe.namespace), body]);
  }
}

/** A text, because parsing and writing would make other numbers of these. */
function withNumber({ apiVersion, kind }: Kind, [field, number]: readonly [string, string]): string {
  const names = field.split(".");
  const inner = names.reduceRight((value, name) => `{${JSON.stringify(name)}:${value}}`, number).slice(1, -1);
  return `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"n"},${inner}}`.replace(
    '"metadata":{"name":"n"},"metadata":{',
    '"metadata":{"name":"n",',
  );
}

async function oddNumbers(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const fields: readonly (readonly [Kind, string])[] = [
    [configMap, "metadata.generation"],
    [configMap, "data.a"],
    [configMap, "unknown.field"],
    [deployment, "spec.replicas"],
    [deployment, "spec.minReadySeconds"],
    [deployment, "spec.strategy.rollingUpdate.maxSurge"],
    [gadget, "spec.size"],
    [gadget, "spec.free"],
    [gadget, "spec.color"],
    [gadget, "metadata.generation"],
  ];
  for (const [[kind, field], number] of pairs(fields, numbers)) {
    // Custom objects here do not tell 1.0 from 1, nor the largest integers from their neighbors.
    if (kind === gadget && !["1.5", "-0", "99999999999999999999", "1e400", "-1"].includes(number)) continue;
    const collection = collectionOf(kind, probe.namespace);
    const body = withNumber(kind, [field, number]);
    const headers = { "content-type": "application/json" };
    await probe.send(`${kind.name} with ${field} ${number}`, "POST", `${collection}?dryRun=All`, { body, headers });
  }
}

async function mediaTypes(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const methods = ["POST", "PUT", "PATCH", "DELETE"];
  for (const [[kind, type], method] of pairs(pairs([configMap, gadget], media), methods)) {
    const { apiVersion, kind: name } = kind;
    const collection = collectionOf(kind, probe.namespace);
    const path = method === "POST" ? collection : `${collection}/a`;
    const object = { apiVersion, kind: name, metadata: { name: "a" }, ...kind.rest };
    const body = method === "DELETE" ? { propagationPolicy: "Background" } : object;
    const call = { body: JSON.stringify(body), headers: { "content-type": type } };
    await probe.send(`${method} ${kind.name} as ${type}`, method, `${path}?dryRun=All`, call);
  }
  for (const text of ["\uFEFF{}", "é", "{é}", '{"a":é}', "\u00a0{}", "{}\n{}", "// x\n{}", "{'a':1}", "{a:1}", "NaN"])
    await probe.send(`text ${text}`, "POST", collectionOf(configMap, probe.namespace), {
      body: text,
      headers: { "content-type": "application/json" },
    });
}

export const bodies: readonly Family[] = [
  { name: "bodies of other kinds", run: otherKinds },
  { name: "bodies with odd numbers", run: oddNumbers },
  { name: "bodies of other media types", run: mediaTypes },
];
