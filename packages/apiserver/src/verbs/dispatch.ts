/** Dispatches a request to its handler by method and path. */
import type { AdmissionAttributes, KindRow, KubeObject } from "../hooks.ts";
import { nothing } from "../discovery/paths.ts";
import { accepted } from "../request/accept.ts";
import { apiVersionOf } from "../registry/resource.ts";
import { answerJson, answerObject } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { writeOptions } from "../request/query.ts";
import { badRequest, methodNotAllowed, notFound, StatusError, verbNotSupported } from "../status.ts";
import { Stored } from "../storage/stored.ts";
import { getScale, patchScale, putScale } from "../subresources/scale.ts";
import { connect, isConnection } from "../subresources/connections.ts";
import { bind, checkBinding } from "../subresources/binding.ts";
import { evict } from "../subresources/eviction.ts";
import { reviewOf } from "../subresources/reviews.ts";
import { completeTokenRequest, defaultTokenRequest, requestToken } from "../subresources/token.ts";
import { create, update } from "./whole-object.ts";
import { optionsObject, wipeSystemFields } from "./write.ts";
import { checkNamespaceOpen, ensureNamespace } from "./write-checks.ts";
import { deleteMany, deleteOne } from "./delete.ts";
import { updateManagedFields } from "../patch/update-managed-fields.ts";
import { storedForm } from "../schema/kube-object.ts";
import { builtInSchema } from "../tables/tables.ts";
import { timestamp } from "../timestamp.ts";
import { type ApiCall, managerOf, writeContext } from "./api-call.ts";
import { formOf } from "./forms.ts";
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
      return ephemeral(call) ?? create(call);
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

/** What decides whether a request has a route. */
export type Routed = Pick<ApiCall, "request" | "target" | "resource">;

/** Checks what comes before the form of an answer: the route, and the type of a patch. @throws StatusError */
export function checkRouteFirst(routed: Routed): void {
  checkRoute(routed);
  if (routed.request.method === "PATCH") checkPatchType(routed.request);
}

/** Whether a request for a custom kind gets as far as the form of its answer: path, verb and type of a patch are served. */
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

/** Whether there is no route, because an object of a built-in kind, or all of them to be deleted, need a namespace. */
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

/** Objects of all namespaces are listed and watched at one path. */
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

/** Returns the subresource and the verb. @throws StatusError 404 or 405 where there is none */
function subresourceOf(
  { target, resource, request }: Routed,
  verb: string,
): { readonly found: KindRow["subresources"][number]; readonly wanted: string } {
  if (target.namespace !== "" && !resource.row.namespaced) throw unknownResource();
  // Subresources of namespaced built-in objects exist only at namespaced paths.
  if (target.namespace === "" && resource.row.namespaced && !resource.row.custom) throw unknownResource();
  const found = resource.row.subresources.find(({ name }) => name === target.subresource);
  if (found === undefined) throw resource.row.custom ? notFound(resource.row, target.name) : unknownResource();
  const wanted = verb === "" ? verbOfPart(request.method, target.subresource) : verb;
  if (!found.verbs.includes(wanted)) {
    if (resource.row.custom) throw verbNotSupported(resource.row, wanted);
    throw methodNotAllowed();
  }
  return { found, wanted };
}

async function subresource(call: ApiCall, verb: string): Promise<Response> {
  const { target, resource } = call;
  if (resource.row.custom && resource.deprecationWarning !== undefined) call.warnings.push(resource.deprecationWarning);
  const { found, wanted } = subresourceOf(call, verb);
  checkPercent(call);
  if (target.subresource === "scale") {
    if (wanted === "get") return getScale(call);
    return wanted === "update" ? putScale(call) : patchScale(call);
  }
  if (isConnection(target.subresource)) return connect(call, found.responseKind.kind);
  if (wanted === "create") return action(call, found.responseKind);
  if (wanted === "get") return get(call);
  return wanted === "update" ? update(call) : patch(call);
}

/** Serves a POST to a subresource. */
async function action(
  call: ApiCall,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
): Promise<Response> {
  const { target, request, warnings } = call;
  // None of these can be shown as a table.
  const { media } = accepted(request.headers.get("accept"), ["PartialObjectMetadata"], {
    served: "handler",
    protobuf: true,
  });
  const { object: sent, dryRun } = await decoded(call, kind);
  const answered = { status: 201, warnings, media };
  ensureNamespace(call, sent);
  checkNamespaceOpen(call);
  const { admission } = call.kernel;
  const attributes: AdmissionAttributes = {
    context: writeContext(call, "CREATE", { name: target.name, dryRun }),
    object: target.subresource === "token" ? completeTokenRequest(sent) : sent,
    oldObject: undefined,
    options: optionsObject("CreateOptions", writeOptions(call.query, "CreateOptions")),
  };
  await admission.mutate(attributes);
  const object = attributes.object ?? sent;
  const admit = async (complete: KubeObject): Promise<void> => {
    attributes.object = complete;
    await admission.validate(attributes);
  };
  switch (target.subresource) {
    case "token":
      return answerObject(request, await requestToken(call, object, admit), answered);
    case "eviction":
      return answerObject(request, await evict(call, object, { dryRun: call.query.getAll("dryRun"), admit }), answered);
    case "binding":
      if (object.metadata.name !== target.name) throw badRequest("name in URL does not match name in Binding object");
      checkBinding(object);
      await admit(object);
      return answerObject(
        request,
        await bind(call, object, { name: target.name, isSubresource: true, dryRun }),
        answered,
      );
    default:
      throw unknownResource();
  }
}

/** Serves kinds that are computed and not stored; `undefined` for all others. */
function ephemeral(call: ApiCall): Promise<Response> | undefined {
  const { resource, request, warnings } = call;
  const { row } = resource;
  const review = reviewOf(call);
  if (review === undefined && (row.group !== "" || row.plural !== "bindings")) return undefined;
  // None of these can be shown as a table.
  const accept = accepted(request.headers.get("accept"), ["PartialObjectMetadata"], {
    served: "handler",
    protobuf: true,
  });
  const answered = { status: 201, warnings, media: accept.media };
  return decoded(call, row).then(async ({ object, dryRun }) => {
    ensureNamespace(call, object);
    if (review === undefined) {
      const { name = "" } = object.metadata;
      checkBinding(object);
      if (name === "") throw badRequest("Name parameter required.");
      return answerObject(request, await bind(call, object, { name, isSubresource: false, dryRun }), answered);
    }
    const whole = new Stored("", 0, { object: review(call, object) as KubeObject });
    return answerJson(request, formOf({ ...call, accept }).one(whole), answered);
  });
}

async function decoded(
  { kernel, request, query, resource, target, warnings }: ApiCall,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
): Promise<{ object: KubeObject; dryRun: boolean }> {
  const row = { group: kind.group, version: kind.version, kind: kind.kind, custom: false };
  const schema = builtInSchema(row);
  const body = await readBody(request, row);
  const options = writeOptions(query, "CreateOptions");
  const object = decodeObject(body, {
    row,
    schema,
    fieldValidation: options.fieldValidation,
    alsoFrom: row.kind === "Eviction" ? ["policy/v1beta1"] : [],
    warn: (message) => void warnings.push(message),
  });
  const isReview = row.kind.endsWith("Review");
  if (row.kind === "TokenRequest") defaultTokenRequest(object);
  if (isReview) wipeSystemFields(object);
  if (schema === undefined) return { object, dryRun: options.dryRun };
  if (resource.row.namespaced && object.metadata.namespace === undefined) object.metadata.namespace = target.namespace;
  const tracked = updateManagedFields({
    schema,
    live: undefined,
    // A review is shown without empty lists and maps.
    next: isReview ? storedForm(schema, object) : object,
    manager: managerOf(options.fieldManager, request),
    subresource: target.subresource,
    apiVersion: apiVersionOf(row),
    now: timestamp(kernel.now()),
  });
  return { object: tracked, dryRun: options.dryRun };
}
