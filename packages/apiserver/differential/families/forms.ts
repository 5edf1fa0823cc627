/** Responses with forms of their own: discovery, reviews and bindings, for everything that a client may accept. */
import { pairs } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";

const groupList = (version: string, more = ""): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList${more}`;

const accepts: Readonly<Record<string, string>> = {
  v2: groupList("v2"),
  v2beta1: groupList("v2beta1"),
  v1: groupList("v1"),
  v2beta2: groupList("v2beta2"),
  "no version": "application/json;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList",
  "no group": "application/json;v=v2;as=APIGroupDiscoveryList",
  "another group": "application/json;g=meta.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "the newer first": `${groupList("v2")},${groupList("v2beta1")},application/json`,
  "the older first": `${groupList("v2beta1")},${groupList("v2")},application/json`,
  "an unknown one first": `${groupList("v3")},${groupList("v2beta1")}`,
  "json first": `application/json,${groupList("v2beta1")}`,
  quality: `application/json;q=0.9,${groupList("v2beta1", ";q=0.1")}`,
  profile: groupList("v2", ";profile=nopeer"),
  "profile of the older": groupList("v2beta1", ";profile=nopeer"),
  anything: "*/*",
  "anything aggregated": "*/*;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  yaml: groupList("v2").replace("json", "yaml"),
  "yaml of the older": groupList("v2beta1").replace("json", "yaml"),
  text: "text/plain",
  "text, then aggregated": `text/plain,${groupList("v2")}`,
  table: "application/json;as=Table;v=v1;g=meta.k8s.io",
  "table, then json": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
};

const paths = ["/api", "/api/", "/apis", "/apis/", "/api/v1", "/apis/apps", "/apis/apps/v1"];

async function discovery(probe: Probe): Promise<void> {
  for (const [path, [label, accept]] of pairs(paths, Object.entries(accepts)))
    await probe.get(`${path} as ${label}`, path, accept);
  for (const [path, version] of pairs(["/api", "/apis"], ["v2", "v2beta1"])) {
    const headers = { accept: groupList(version) };
    for (const tag of ["*", '"x"', 'W/"x"', ""]) {
      const more = { ...headers, "if-none-match": tag };
      await probe.send(`${path} of ${version} unless ${tag}`, "GET", path, { headers: more });
    }
    for (const method of ["HEAD", "POST", "PUT", "DELETE"])
      await probe.send(`${method} ${path} of ${version}`, method, path, { headers });
    for (const query of ["?pretty=1", "?x=y"])
      await probe.send(`${path}${query} of ${version}`, "GET", `${path}${query}`, { headers });
  }
}

const types: Readonly<Record<string, string>> = {
  json: "application/json",
  table: "application/json;as=Table;v=v1;g=meta.k8s.io",
  "table, then json": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  metadata: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "metadata of a list": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  yaml: "application/yaml",
  text: "text/plain",
  anything: "*/*",
  nothing: "",
  "table of an unknown version": "application/json;as=Table;v=v9;g=meta.k8s.io",
  "table, then anything": "application/json;as=Table;v=v1;g=meta.k8s.io,*/*",
};

const authentication = "authentication.k8s.io/v1";
const authorization = "authorization.k8s.io/v1";
const attributes = { resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } };

const reviews: readonly (readonly [string, object])[] = [
  [`/apis/${authentication}/tokenreviews`, { apiVersion: authentication, kind: "TokenReview", spec: { token: "x" } }],
  [`/apis/${authentication}/selfsubjectreviews`, { apiVersion: authentication, kind: "SelfSubjectReview" }],
  [
    `/apis/${authorization}/subjectaccessreviews`,
    { apiVersion: authorization, kind: "SubjectAccessReview", spec: { user: "u", ...attributes } },
  ],
  [
    `/apis/${authorization}/namespaces/default/localsubjectaccessreviews`,
    { apiVersion: authorization, kind: "LocalSubjectAccessReview", spec: { user: "u", ...attributes } },
  ],
  [
    `/apis/${authorization}/selfsubjectaccessreviews`,
    { apiVersion: authorization, kind: "SelfSubjectAccessReview", spec: attributes },
  ],
  [
    `/apis/${authorization}/selfsubjectrulesreviews`,
    { apiVersion: authorization, kind: "SelfSubjectRulesReview", spec: { namespace: "default" } },
  ],
];

async function formsOfReviews(probe: Probe): Promise<void> {
  for (const [[path, body], [label, accept]] of pairs(reviews, Object.entries(types))) {
    if (label === "yaml" && path.endsWith("rulesreviews")) continue; // rules have the order of a map
    const headers = { accept };
    await probe.send(`${path} as ${label}`, "POST", path, { headers, body });
    await probe.send(`${path} as ${label}, tried`, "POST", `${path}?dryRun=All`, { headers, body });
    await probe.send(`a broken body for ${path} as ${label}`, "POST", path, { headers, body: "{" });
    await probe.send(`an empty spec for ${path} as ${label}`, "POST", path, { headers, body: { ...body, spec: {} } });
  }
}

async function bindings(probe: Probe): Promise<void> {
  const root = await probe.createNamespace();
  const variants: Readonly<Record<string, { readonly [part: string]: object }>> = {
    whole: {},
    "with metadata": { metadata: { annotations: { a: "b" }, labels: { c: "d" } } },
    "to no node": { target: { kind: "Node" } },
    "to a pod": { target: { kind: "Pod", name: "x" } },
    "of another uid": { metadata: { uid: "other" } },
    "of another version": { metadata: { resourceVersion: "1" } },
    "of a pod with gates": { pod: { schedulingGates: [{ name: "example.test/gate" }] } },
    "of a placed pod": { pod: { nodeName: "there" } },
  };
  let count = 0;
  const places = pairs(["", "?dryRun=All", "?fieldValidation=Strict"], ["binding", "bindings"]);
  for (const [[query, place], [label, { pod, ...more }]] of pairs(places, Object.entries(variants))) {
    const title = `${place}${query}, ${label}`;
    if (!probe.isChosen(title)) continue;
    const name = `p${count++}`;
    const spec = { containers: [{ name: "c", image: "i" }], ...pod };
    await probe.quietly("POST", `${root}/pods`, { metadata: { name, labels: { c: "old" } }, spec });
    const target = { kind: "Node", name: "n" };
    const body = { apiVersion: "v1", kind: "Binding", target, ...more, metadata: { name, ...more["metadata"] } };
    const path = place === "binding" ? `${root}/pods/${name}/binding` : `${root}/bindings`;
    await probe.session.post(title, `${path}${query}`, body);
    await probe.session.get(`the pod after ${title}`, `${root}/pods/${name}`);
  }
}

export const forms: readonly Family[] = [
  { name: "forms of discovery", isAlone: true, share: 0.12, run: discovery },
  { name: "forms of reviews", share: 0.12, run: formsOfReviews },
  { name: "bindings", share: 0.6, run: bindings },
];
