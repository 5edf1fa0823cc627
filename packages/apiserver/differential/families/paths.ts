/** Paths without a resource: every method, and every form that a client may accept. */
import { type Family, pairs, type Probe } from "./family.ts";

const plain = [
  "/",
  "/index.html",
  "/version",
  "/version/",
  "/version/x",
  "/healthz",
  "/livez/ping",
  "/readyz/bogus",
  "/api",
  "/api/v1",
  "/api/v2",
  "/apis",
  "/apis/apps",
  "/apis/apps/v1",
  "/apis/bogus",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/",
  "/openapi/v3/version",
  "/openapi/v3/apis/apps",
  "/openapi/v3/apis/bogus/v1",
  "/openapi",
  "/.well-known/openid-configuration",
  "/.well-known/openid-configuration/x",
  "/.well-known/other",
  "/openid/v1/jwks/x",
  "/openid/v1",
  "/logs",
  "/bogus",
];

const odd = [
  "//api",
  "//api/v1",
  "/api//v1",
  "/api/v1//configmaps",
  "/api/v1/namespaces/default//configmaps",
  "/api/v1/namespaces/default/configmaps//a",
  "/api/v1/namespaces/default/configmaps/a%2Fb",
  "/api/v1/namespaces/default/configmaps/a%2fstatus",
  "/api/v1/namespaces/default/configmaps/%61",
  "/api/v1/namespaces/default/configmaps/%zz",
  "/api/v1/namespaces/default/configmaps/%2525",
  "/api/v1/namespaces/default/configmaps/a%",
  "/api/v1/namespaces%2Fdefault/configmaps",
  "/api/v1/watch",
  "/api/v1/watch/",
  "/api/v1/proxy",
  "/api/v1/watch?a=b&c=<d>",
  "/apis/apps/v1/watch",
  "/apis/apps/v1/proxy",
  "/apis/apps//v1",
  "/apis//apps/v1",
  "/apis/apps/v1//deployments",
  "/apis/apps/v1/namespaces/default/bogus",
  "/API/V1",
  "/Api/v1",
  "/api/v1/Namespaces",
  "/api/v1/nodes?limit=%zz",
  "/api/v1/nodes?limit=1;continue=x",
  "/api/v1/namespaces?labelSelector=a%3Db%zz",
  "/api/v1/namespaces/default?pretty",
  "/api/v1/namespaces/default?pretty=",
  "/api/v1/namespaces/default?pretty=true",
  "/api/v1/namespaces/default?pretty=T",
  "/api/v1/namespaces/default?pretty=yes",
  "/api/v1/namespaces/default?pretty=0",
  "/version?pretty=false",
  "/api?pretty=1",
  "/apis/apps?pretty=1",
];

const accepts: Readonly<Record<string, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  text: "text/plain",
  html: "text/html",
  anything: "*/*",
  "json of low quality": "application/yaml;q=0.5,application/json;q=0.4",
  keys: "application/jwk-set+json",
  unknown: "application/x-unknown",
  nothing: "",
};

async function everyPath(probe: Probe): Promise<void> {
  for (const [path, method] of pairs(plain, ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])) {
    const body = ["POST", "PUT", "PATCH"].includes(method) ? { body: {} } : {};
    await probe.send(`${method} ${path}`, method, path, body);
  }
  for (const [path, [label, accept]] of pairs(plain, Object.entries(accepts)))
    await probe.send(`${path} as ${label}`, "GET", path, { headers: { accept } });
  for (const agent of ["curl/8.0", "Wget/1", "Mozilla/5.0 (X11)", "kubectl/v1.36.3"])
    for (const path of ["/api/v1/namespaces/default", "/api", "/apis", "/version", "/bogus", "/api/v1/bogus"])
      await probe.send(`${path} by ${agent}`, "GET", path, { headers: { "user-agent": agent } });
}

async function oddPaths(probe: Probe): Promise<void> {
  for (const [path, method] of pairs(odd, ["GET", "POST", "DELETE"])) {
    const isWrite = method !== "GET";
    // Only harmless requests are sent, because a deleted namespace loses everything.
    if (isWrite && /namespaces\/default(\?|$)|%61|\/namespaces\?|configmaps\?/.test(path)) continue;
    await probe.send(`${method} ${path}`, method, path, method === "POST" ? { body: {} } : {});
  }
}

async function openApi(probe: Probe): Promise<void> {
  const v3 = "/openapi/v3/version";
  for (const path of [`${v3}?hash=bogus`, `${v3}?hash=`, "/openapi/v3/bogus?hash=x", "/openapi/v2?hash=x"])
    await probe.send(path, "GET", path);
  for (const given of ["*", '"x"']) {
    for (const path of ["/openapi/v2", "/openapi/v3", v3])
      await probe.send(`${path} unless ${given}`, "GET", path, { headers: { "if-none-match": given } });
  }
}

export const paths: readonly Family[] = [
  { name: "plain paths", run: everyPath },
  { name: "odd paths", run: oddPaths },
  { name: "openapi paths", run: openApi },
];
