/** Dispatches a request to its handler by method and path. */
import type { KindRow } from "../hooks.ts";
import { nothing } from "../discovery/paths.ts";
import { badRequest, methodNotAllowed, notFound, StatusError, verbNotSupported } from "../status.ts";
import { getScale, patchScale, putScale } from "../subresources/scale.ts";
import { connect, isConnection } from "../subresources/connections.ts";
import { act, answerUnstored } from "../subresources/actions.ts";
import { create, update } from "./whole-object.ts";
import { deleteMany, deleteOne } from "./delete.ts";
import type { ApiCall } from "./api-call.ts";
import { get, list } from "./list.ts";
import { patch } from "./patch.ts";
import { checkPatchType, patchTypeOf } from "./patch-body.ts";

/** Serves a request to a resource. @throws StatusError */
export async function dispatch(call: ApiCall): Promise<Response> {
  const { kernel, target, resource, request, warnings } = call;
  const verb = verbOf(request.method, target.name, resource.row.custom);
  if (target.subresource !== "") return subresource(call, verb);
  // A custom resource has no handler at a path of the other scope.
  if (resource.row.custom && isOfOtherScope(call))
    return nothing(request, new URL(request.url).pathname, kernel.registry);
  checkRoute(call);
  checkPercent(call);
  if (resource.deprecationWarning !== undefined) warnings.push(resource.deprecationWarning);
  switch (verb) {
    case "get":
      return target.watchPath ? list(call) : get(call);
    case "list":
      return list(call);
    case "create":
      return answerUnstored(call) ?? create(call);
    case "update":
      return update(call);
    case "patch":
      return patch(call);
    case "delete":
      return deleteOne(call);
    default:
      return deleteMany(call);
  }
}

/** Rejects names that would change when a path is decoded once more. @throws StatusError 400, or 415 for the route of a patch */
function checkPercent({ request, resource, target: { name } }: Routed): void {
  if (!name.includes("%")) return;
  if (request.method === "PATCH" && !resource.row.custom) checkPatchType(request);
  throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not contain '%'`);
}

/** The parts of a request that decide whether it has a route. */
export type Routed = Pick<ApiCall, "request" | "target" | "resource">;

/** Checks that come before the choice of the answer's form: the route, and the type of a patch. @throws StatusError */
export function checkRouteFirst(routed: Routed): void {
  checkRoute(routed);
  if (routed.request.method === "PATCH") checkPatchType(routed.request);
}

/**
 * Whether a request for a custom kind has a path, a verb and a type of patch that are served, so that the form of its
 * answer matters.
 */
export function isCustomRouted(routed: Routed): boolean {
  if (routed.target.subresource === "" && isOfOtherScope(routed)) return false;
  try {
    checkRoute(routed);
    if (routed.request.method === "PATCH") patchTypeOf(routed);
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}

function isOfOtherScope(routed: Routed): boolean {
  const { target, resource } = routed;
  return (target.namespace !== "") !== resource.row.namespaced && !isListing(routed);
}

/**
 * Checks that the path and the method have a route. Built-in kinds have a table of routes, whose refusal comes before
 * anything about media types.
 *
 * @throws StatusError 400, 404 or 405
 */
function checkRoute(routed: Routed): void {
  const { target, resource, request } = routed;
  const verb = verbOf(request.method, target.name, resource.row.custom);
  if (target.subresource !== "") return void subresourceOf(routed, verb);
  if (!hasPath(routed)) throw unknownResource();
  if (isOfNowhere(routed, verb))
    throw target.hasEmptyNamespace ? badRequest("Namespace parameter required.") : unknownResource();
  const isAnywhere = target.namespace === "" && resource.row.namespaced && !target.hasEmptyNamespace;
  if (!resource.row.verbs.includes(verb) || (isAnywhere && !isAcross(verb))) throw methodNotAllowed();
}

/**
 * Whether there is no route because the path lacks the namespace that one object needs, or the deletion of all objects.
 */
function isOfNowhere({ target, resource: { row } }: Routed, verb: string): boolean {
  if (target.namespace !== "" || !row.namespaced || row.custom) return false;
  if (target.hasEmptyNamespace) return verb === "deletecollection" || (target.name !== "" && verb !== "");
  return target.name !== "";
}

/** Whether a path of this form is served. */
function hasPath({ target, resource: { row } }: Routed): boolean {
  if (target.namespace !== "" && !row.namespaced) return false;
  if (target.namespace === "" && row.namespaced && !row.verbs.includes("list")) return false;
  if (target.name === "") return true;
  return ["get", "update", "patch", "delete"].some((verb) => row.verbs.includes(verb));
}

/** Returns the verb. @param custom whether it is a kind without a table of routes, for which the method is checked first */
function verbOf(method: string, name: string, custom: boolean): string {
  switch (method) {
    case "GET":
      return name === "" ? "list" : "get";
    case "POST":
      return name === "" || custom ? "create" : "";
    case "PUT":
      return name === "" && !custom ? "" : "update";
    case "PATCH":
      return name === "" && !custom ? "" : "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      return "";
  }
}

/** Whether the request lists or watches; objects of all namespaces have one path. */
function isListing({ request, resource, target }: Routed): boolean {
  return resource.row.namespaced && request.method === "GET" && target.name === "" && target.subresource === "";
}

/** Whether the verb works across namespaces. */
function isAcross(verb: string): boolean {
  return verb === "list" || verb === "watch";
}

function unknownResource(): StatusError {
  return new StatusError(404, "NotFound", { message: "the server could not find the requested resource", details: {} });
}

/** Returns the verb of a method that objects do not have. */
function verbOfPart(method: string, subresource: string): string {
  if (method === "POST") return "create";
  return subresource === "proxy" && (method === "HEAD" || method === "OPTIONS") ? "get" : "";
}

/** Returns the subresource and the verb. @throws StatusError 404 or 405 when there is none */
function subresourceOf(
  { target, resource, request }: Routed,
  verb: string,
): { readonly part: KindRow["subresources"][number]; readonly verbOfRoute: string } {
  if (target.namespace !== "" && !resource.row.namespaced) throw unknownResource();
  // Subresources of namespaced built-in objects exist only at namespaced paths.
  if (target.namespace === "" && resource.row.namespaced && !resource.row.custom) throw unknownResource();
  const part = resource.row.subresources.find(({ name }) => name === target.subresource);
  if (part === undefined) throw resource.row.custom ? notFound(resource.row, target.name) : unknownResource();
  const verbOfRoute = verb === "" ? verbOfPart(request.method, target.subresource) : verb;
  if (!part.verbs.includes(verbOfRoute)) {
    if (resource.row.custom) throw verbNotSupported(resource.row, verbOfRoute);
    throw methodNotAllowed();
  }
  return { part, verbOfRoute };
}

async function subresource(call: ApiCall, verb: string): Promise<Response> {
  const { target, resource } = call;
  if (resource.row.custom && resource.deprecationWarning !== undefined) call.warnings.push(resource.deprecationWarning);
  const { part, verbOfRoute } = subresourceOf(call, verb);
  checkPercent(call);
  if (target.subresource === "scale") {
    if (verbOfRoute === "get") return getScale(call);
    return verbOfRoute === "update" ? putScale(call) : patchScale(call);
  }
  if (isConnection(target.subresource)) return connect(call, part.responseKind.kind);
  if (verbOfRoute === "create") {
    const answer = act(call, part.responseKind);
    if (answer === undefined) throw unknownResource();
    return answer;
  }
  if (verbOfRoute === "get") return get(call);
  return verbOfRoute === "update" ? update(call) : patch(call);
}
