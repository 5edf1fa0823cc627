/** Cases about which error comes first: that access is forbidden, or that the path does not exist. */
import type { Case } from "../case.ts";
import { pairs } from "../sampling.ts";
import type { Requests } from "../session.ts";
import { makePeople } from "./accounts.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

function paths(slug: string): readonly string[] {
  const inside = `/api/v1/namespaces/${slug}`;
  return [
    "/absent",
    "/api",
    "/api/",
    "/api/v1",
    "/api/v2",
    "/api/v1/absent",
    "/api/v1/absent/one",
    "/api/v1/pods",
    "/api/v1/pods/one",
    "/api/v1/namespaces",
    "/api/v1/namespaces/one",
    "/api/v1/namespaces/one/status",
    "/api/v1/namespaces/one/finalize",
    "/api/v1/namespaces/one/absent",
    "/api/v1/nodes/one/proxy/metrics",
    "/api/v1/componentstatuses",
    inside,
    `${inside}/`,
    `${inside}/configmaps`,
    `${inside}/configmaps/`,
    `${inside}/configmaps/one`,
    `${inside}/configmaps/one/absent`,
    `${inside}/configmaps/one/a/b/c`,
    `${inside}/pods/one/log`,
    `${inside}/pods/one/exec?command=ls&stdout=true`,
    `${inside}/pods/one/attach`,
    `${inside}/pods/one/portforward`,
    `${inside}/pods/one/proxy`,
    `${inside}/pods/one/proxy/a/b`,
    `${inside}/pods/one/eviction`,
    `${inside}/pods/one/binding`,
    `${inside}/services/one/proxy/x`,
    `${inside}/serviceaccounts/one/token`,
    `${inside}/configmaps?watch=true&timeoutSeconds=1`,
    `${inside}/configmaps?watch=0`,
    `${inside}/configmaps?fieldSelector=metadata.name%3Done`,
    `${inside}/configmaps?fieldSelector=metadata.name%3Done%2Cmetadata.namespace%3Dx`,
    `${inside}/configmaps?fieldSelector=metadata.name!%3Done`,
    `${inside}/configmaps?fieldSelector=%3D%3D%3D`,
    `${inside}/configmaps?labelSelector=%3D%3D%3D`,
    `/api/v1/watch/namespaces/${slug}/configmaps`,
    `/api/v1/watch/namespaces/${slug}/configmaps/one`,
    "/api/v1/watch/configmaps",
    "/api/v1/proxy/nodes/one",
    "/apis",
    "/apis/",
    "/apis/apps",
    "/apis/apps/",
    "/apis/apps/v1",
    "/apis/apps/v1/",
    "/apis/apps/v2",
    "/apis/apps/v1/absent",
    "/apis/apps/v1/deployments",
    `/apis/apps/v1/namespaces/${slug}/deployments/one/scale`,
    "/apis/absent.example.test",
    "/apis/absent.example.test/v1",
    "/apis/absent.example.test/v1/things",
    `/apis/absent.example.test/v1/namespaces/${slug}/things/one/status`,
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "/apis/authentication.k8s.io/v1/tokenreviews",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    `/apis/authorization.k8s.io/v1/namespaces/${slug}/localsubjectaccessreviews`,
    "/healthz",
    "/healthz/etcd",
    "/livez/ping",
    "/readyz?verbose",
    "/version",
    "/openapi/v3/api/v1",
    "/logs",
    "/debug/pprof/profile",
    "/metrics",
    "/a%26b<c>",
    `${inside}/config%20maps/a%26b`,
  ];
}

export const refusedPaths: Case = {
  name: "paths that are refused",
  isAlone: true,
  async run(session) {
    const [[, robot]] = (await makePeople(session, { robot: [] })) as [[string, Requests]];
    for (const [path, method] of pairs(paths(session.slug), methods)) {
      const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
      const body = ["POST", "PUT", "PATCH"].includes(method) ? { body: {}, headers } : {};
      await robot.send(`${method} ${path}`, method, path, body);
    }
    for (const accept of ["text/html", "application/json;as=Table;v=v1;g=meta.k8s.io", "image/png"])
      await robot.get(`accepts ${accept}`, "/api/v1/pods", accept);
  },
};
