/** What a server says about itself, and requests to paths that are nearly those of resources. */
import { type Family, pairs, type Probe } from "./family.ts";

const pages = [
  "/metrics/",
  "/metrics/x",
  "/metrics/slis/",
  "/metrics/cadvisor",
  "/configz",
  "/configz/",
  "/logs/",
  "/logs/x",
  "/healthz/",
  "/healthz/etcd",
  "/healthz/nope",
  "/healthz/poststarthook/nope",
  "/healthz/poststarthook/start-apiextensions-informers",
  "/livez/etcd",
  "/livez/log",
  "/livez/poststarthook/rbac/bootstrap-roles",
  "/livez?exclude=etcd",
  "/livez?exclude=nope",
  "/livez?exclude=nope&exclude=other",
  "/livez?exclude=",
  "/readyz/informer-sync",
  "/readyz/shutdown",
  "/readyz/etcd-readiness",
  "/readyz?exclude=nope&verbose",
  "/ping",
  "/ui",
  "/swagger.json",
  "/swaggerapi",
  "/swagger-ui/",
  "/api/",
  "/api/v1/",
  "/apis/",
  "/apis/apps/",
  "/apis/apps/v1/",
  "/apis/apps/v2/",
  "/apis/nope/v1/things",
  "/apis/extensions/v1beta1/deployments",
  "/apis/policy/v1beta1/podsecuritypolicies",
  "/api/v1/componentstatuses",
  "/api/v1/componentstatuses/",
  "/api/v1/componentstatuses/etcd-0",
  "/api/v1/componentstatuses/scheduler",
  "/api/v1/componentstatuses/nope",
  "/api/v1/componentstatuses?limit=1",
  "/api/v1/componentstatuses?labelSelector=a",
  "/api/v1/componentstatuses?fieldSelector=metadata.name%3Detcd-0",
  "/api/v1/componentstatuses?fieldSelector=nope%3Dx",
  "/api/v1/namespaces/default/componentstatuses",
  "/openid/v1/jwks/",
  "/.well-known/openid-configuration/",
  "/.well-known/",
  "/robots.txt",
  "/favicon.ico",
  "/index.htm",
  "/..",
  "/../api",
  "/api/../version",
  "/./version",
  "/version/.",
  "/api/v1/./namespaces",
  "/api/v1/namespaces/..",
  "/%2e%2e/version",
  "/api/v1/namespaces/%2e%2e/pods",
  "/api%2Fv1",
  "/api/v1/namespaces/default/pods/..%2f..",
  "/?",
  "/#x",
  "/api/v1?x",
  "/version?x=%",
];

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

async function aboutItself(probe: Probe): Promise<void> {
  for (const [path, method] of pairs(pages, methods)) {
    const body = ["POST", "PUT", "PATCH"].includes(method) ? { body: {} } : {};
    const headers = method === "PATCH" ? { headers: { "content-type": "application/merge-patch+json" } } : {};
    await probe.send(`${method} ${path}`, method, path, { ...body, ...headers });
  }
  const accepts = [
    "*/*",
    "text/plain",
    "text/html",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/cbor",
    "application/json;v=v1alpha1;g=config.k8s.io;as=Statusz",
    "application/json;v=v1alpha1;g=config.k8s.io;as=Flagz",
    "application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
    "x",
    "text/*",
    "application/*",
    "application/json;q=0",
    "",
  ];
  for (const [path, accept] of pairs(
    [
      "/version",
      "/healthz",
      "/healthz/nope",
      "/livez",
      "/",
      "/metrics/slis/",
      "/openapi/v2",
      "/openapi/v3",
      "/openapi/v3/version",
      "/openapi/v3/nope",
      "/api",
      "/apis",
      "/apis/apps",
      "/apis/apps/v1",
      "/api/v1/componentstatuses",
      "/api/v1/componentstatuses/etcd-0",
      "/nope",
      "/api/v1/nope",
      "/api/v1/namespaces/default",
      "/api/v1/namespaces/nope",
      "/openid/v1/jwks",
      "/.well-known/openid-configuration",
    ],
    accepts,
  )) {
    if (/^\/openapi\/v2$/.test(path) && !/html|yaml|protobuf|cbor|q=0|^x$/.test(accept)) continue;
    if (accept.includes("protobuf") && path.startsWith("/openapi")) continue;
    await probe.send(`${path} as ${accept}`, "GET", path, { headers: { accept } });
  }
}

const namespaced = ["configmaps", "pods", "services", "deployments", "nope"];

/** Shapes of paths: `N` is the namespace, `R` the resource. */
const shapes = [
  "R",
  "R/",
  "R/a",
  "R/a/",
  "R/a/nope",
  "R/a/status",
  "R/a/status/",
  "R/a/status/x",
  "R/a/scale",
  "R/a/b/c/d",
  "R/a/log",
  "R/a/exec",
  "R/a/attach",
  "R/a/portforward",
  "R/a/proxy",
  "R/a/binding",
  "R/a/eviction",
  "R/a/token",
  "R/a/ephemeralcontainers",
  "R/a/resize",
  "R/a/approval",
  "R/a/finalize",
  "namespaces/N/R",
  "namespaces/N/R/",
  "namespaces/N/R/a",
  "namespaces/N/R/a/nope",
  "namespaces/N/R/A_B",
  "namespaces/N/R/.",
  "namespaces/N/R/a%20b",
  "namespaces/N/R/%00",
  "namespaces/N/R/%C3%A4",
  "namespaces/N/R/%ff",
  "namespaces//R",
  "namespaces//R/a",
  "namespaces/none/R",
  "namespaces/none/R/a",
  "namespaces/N_N/R",
  "namespaces/N/namespaces/N/R",
  "watch/R",
  "watch/R/a",
  "watch/namespaces/N/R/a/b",
  "proxy/R/a",
  "redirect/namespaces/N/R/a",
];

async function shapesOfPaths(probe: Probe): Promise<void> {
  await probe.createNamespace();
  for (const [resource, [index, shape]] of pairs(namespaced, [...shapes.entries()])) {
    const root = resource === "deployments" ? "/apis/apps/v1" : "/api/v1";
    const path = `${root}/${shape.replaceAll(/\bN\b/g, probe.namespace).replace("R", resource)}`;
    for (const [order, method] of methods.entries()) {
      if (shape.startsWith("watch/") && method === "GET") continue;
      if (resource !== "configmaps" && (index + order) % 2 === 1) continue;
      if (shape === "R" && method === "DELETE") continue;
      const patch = method === "PATCH" ? { headers: { "content-type": "application/merge-patch+json" } } : {};
      const body = ["POST", "PUT", "PATCH"].includes(method) ? { body: { metadata: { name: "a" } } } : {};
      await probe.send(`${method} ${resource} ${shape}`, method, path.includes("?") ? path : `${path}?dryRun=All`, {
        ...body,
        ...patch,
      });
    }
    if (shape.startsWith("watch/")) continue;
    await probe.send(`table of ${resource} ${shape}`, "GET", path, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    });
  }
}

const headers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "gzip only": { "accept-encoding": "gzip" },
  "no encoding": { "accept-encoding": "identity" },
  "a gzip body": { "content-encoding": "gzip" },
  "an unknown encoding": { "accept-encoding": "zstd;q=1" },
  "a method override": { "x-http-method-override": "DELETE" },
  "a condition": { "if-match": '"x"' },
  "another condition": { "if-none-match": "*" },
  "a range": { range: "bytes=0-10" },
  "an expectation": { te: "trailers" },
  "a language": { "accept-language": "de" },
  "impersonation of nobody": { "impersonate-group": "x" },
  "impersonation of an extra": { "impersonate-extra-a": "x" },
  "impersonation of a uid": { "impersonate-uid": "x" },
  "an audit id": { "audit-id": "x" },
  "an upgrade": { connection: "Upgrade", upgrade: "websocket" },
  "a media type that is broken": { accept: "application/json;;" },
  "a media type of one half": { accept: "application" },
  "media types with spaces": { accept: " application/json ; q=1 , */* " },
  "media types of quality 0": { accept: "application/json;q=0,application/yaml" },
  "a pretty media type": { accept: "application/json;pretty=1" },
  "a stream": { accept: "application/json;stream=watch" },
  "a protobuf stream": { accept: "application/vnd.kubernetes.protobuf;stream=watch" },
  "a table of protobuf": { accept: "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io" },
  "metadata of protobuf": { accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" },
  cbor: { accept: "application/cbor" },
  "cbor or json": { accept: "application/cbor,application/json" },
  "an unknown form": { accept: "application/json;as=Nope;v=v1;g=meta.k8s.io" },
  "a list of metadata": { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" },
  "metadata of v1beta1": { accept: "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io" },
  "a table of v1beta1": { accept: "application/json;as=Table;v=v1beta1;g=meta.k8s.io" },
  "a table of yaml": { accept: "application/yaml;as=Table;v=v1;g=meta.k8s.io" },
  yaml: { accept: "application/yaml" },
};

async function oddHeaders(probe: Probe): Promise<void> {
  await probe.createNamespace();
  const collection = `/api/v1/namespaces/${probe.namespace}/configmaps`;
  await probe.quietly("POST", collection, { metadata: { name: "a" }, data: { a: "1" } });
  for (const [[label, given], [method, path]] of pairs(Object.entries(headers), [
    ["GET", `${collection}/a`],
    ["GET", collection],
    ["GET", `${collection}/none`],
    ["GET", "/api/v1/namespaces/default/secrets"],
    ["POST", `${collection}?dryRun=All`],
    ["PUT", `${collection}/a?dryRun=All`],
    ["PATCH", `${collection}/a?dryRun=All`],
    ["DELETE", `${collection}/a?dryRun=All`],
    ["DELETE", `${collection}?dryRun=All`],
  ] as const)) {
    if (label === "a gzip body" && method === "DELETE") continue;
    const patch = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const body =
      method === "GET" || method === "DELETE" ? {} : { body: { metadata: { name: method === "POST" ? "b" : "a" } } };
    await probe.send(`${method} ${path.replace(collection, "")} with ${label}`, method, path, {
      ...body,
      headers: { ...given, ...patch },
    });
  }
  for (const size of [1, 2, 3, 3.2, 4.5]) {
    const text = "x".repeat(size * 1024 * 1024 - 200);
    await probe.send(`post ${size} MiB`, "POST", `${collection}?dryRun=All`, {
      body: { metadata: { name: "big" }, data: { a: text } },
    });
    await probe.send(`merge ${size} MiB`, "PATCH", `${collection}/a?dryRun=All`, {
      body: { data: { a: text } },
      headers: { "content-type": "application/merge-patch+json" },
    });
  }
}

export const serverPages: readonly Family[] = [
  { name: "pages about itself", run: aboutItself },
  { name: "shapes of paths", run: shapesOfPaths },
  { name: "odd headers", run: oddHeaders },
];
