/** The paths of the server, and its responses for all other paths. */
import type { KindRegistry } from "../registry/kind-registry.ts";
import { apiVersionOf } from "../registry/resource.ts";
import { answerObject, answerStatus } from "../request/answer.ts";
import { StatusError } from "../status.ts";
import { healthPaths } from "./health.ts";
import { openIdPaths } from "./open-id.ts";

const others = [
  "/api",
  "/apis",
  "/apis/",
  "/metrics",
  "/metrics/slis",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/",
  "/version",
  ...Object.values(openIdPaths),
];

/** Serves the list of paths at `/` for any method; `undefined` for any other path. */
export function pathList(request: Request, path: string, registry: KindRegistry): Response | undefined {
  if (path !== "/" && path !== "/index.html") return undefined;
  const versions = registry.rows().map((row) => (row.group === "" ? "/api/v1" : `/apis/${apiVersionOf(row)}`));
  const groups = registry.groups().map(({ name }) => `/apis/${name}`);
  const paths = [...new Set([...versions, ...groups, ...others, ...healthPaths()])].toSorted();
  return answerObject(request, { paths }, { pretty: true });
}

/** Paths of exactly one route: nothing is served below them. */
const routes = ["/version", ...Object.values(openIdPaths)];

/** Makes the response for a path that nothing serves: a `Status` below API paths, a line of text elsewhere. */
export function nothing(request: Request, path: string, registry: KindRegistry): Response {
  const [, root, group] = path.split("/");
  // The paths of a custom group exist only while it has a kind.
  const isKnown =
    root === "api" ||
    (root === "apis" && group !== "" && registry.rows().some((row) => !row.custom && row.group === group)) ||
    routes.some((route) => path.startsWith(`${route}/`));
  if (isKnown) return answerStatus(request, noResource().status);
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-cache, private",
    "x-content-type-options": "nosniff",
  };
  return new Response("404 page not found\n", { status: 404, headers });
}

export function noResource(): StatusError {
  return new StatusError(404, "NotFound", { message: "the server could not find the requested resource", details: {} });
}
