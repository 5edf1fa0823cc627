/** Serves objects that are posted and acted on, but not stored: bindings, reviews, and objects of subresources. */
import type { AdmissionAttributes, Fields, GroupVersionKind, KubeObject } from "../hooks.ts";
import { updateManagedFields } from "../patch/update-managed-fields.ts";
import { apiVersionOf } from "../registry/resource.ts";
import { accepted } from "../request/accept.ts";
import { answerJson, answerObject } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { type WriteOptions, writeOptions } from "../request/query.ts";
import { storedForm } from "../schema/kube-object.ts";
import { Stored } from "../storage/stored.ts";
import { builtInSchema } from "../tables/tables.ts";
import { timestamp } from "../timestamp.ts";
import { type ApiCall, managerOf, writeContext } from "../verbs/api-call.ts";
import { formOf } from "../verbs/forms.ts";
import { optionsObject, wipeSystemFields } from "../verbs/write.ts";
import { checkNamespaceOpen, ensureNamespace } from "../verbs/write-checks.ts";
import type { Action } from "./action.ts";
import { bindingOfPod, createBinding } from "./binding.ts";
import { eviction } from "./eviction.ts";
import { reviewOf } from "./reviews.ts";
import { token } from "./token.ts";

/** The actions by the name of their subresource. */
const actions: Readonly<Record<string, Action>> = { binding: bindingOfPod, eviction, token };

/** Serves a POST to a subresource; `undefined` when there is no such action. */
export function act(call: ApiCall, kind: GroupVersionKind): Promise<Response> | undefined {
  const action = actions[call.target.subresource];
  return action && answerAction(call, kind, action);
}

async function answerAction(call: ApiCall, kind: GroupVersionKind, action: Action): Promise<Response> {
  const { kernel, target, request, warnings } = call;
  const { media } = acceptedForm(request);
  const { object: sent, options } = await readPosted(call, kind, action);
  ensureNamespace(call, sent);
  checkNamespaceOpen(call);
  const attributes: AdmissionAttributes = {
    context: writeContext(call, "CREATE", { name: target.name, dryRun: options.dryRun }),
    object: action.complete?.(sent) ?? sent,
    oldObject: undefined,
    options: optionsObject("CreateOptions", options),
  };
  await kernel.admission.mutate(attributes);
  const admit = async (object: KubeObject): Promise<void> => {
    attributes.object = object;
    await kernel.admission.validate(attributes);
  };
  const answer = await action.run(call, attributes.object ?? sent, { dryRun: options.dryRun, admit });
  return answerObject(request, answer, { status: 201, warnings, media });
}

/** Serves a POST of a review or a binding; `undefined` for kinds that are stored. */
export function answerUnstored(call: ApiCall): Promise<Response> | undefined {
  const { row } = call.resource;
  const review = reviewOf(call);
  if (review !== undefined) return answerReview(call, review);
  return row.group === "" && row.plural === "bindings" ? answerBinding(call) : undefined;
}

async function answerReview(call: ApiCall, review: (call: ApiCall, object: KubeObject) => Fields): Promise<Response> {
  const { request, warnings, resource } = call;
  const accept = acceptedForm(request);
  const { object } = await readPosted(call, resource.row);
  ensureNamespace(call, object);
  const answer = new Stored("", 0, { object: review(call, object) as KubeObject });
  return answerJson(request, formOf({ ...call, accept }).one(answer), { status: 201, warnings, media: accept.media });
}

async function answerBinding(call: ApiCall): Promise<Response> {
  const { request, warnings, resource } = call;
  const { media } = acceptedForm(request);
  const { object, options } = await readPosted(call, resource.row);
  ensureNamespace(call, object);
  return answerObject(request, await createBinding(call, object, options), { status: 201, warnings, media });
}

/** Negotiates the form of the answer, which is never a table. @throws StatusError 406 */
function acceptedForm(request: Request): ApiCall["accept"] {
  const form = { served: "handler", protobuf: true } as const;
  return accepted(request.headers.get("accept"), ["PartialObjectMetadata"], form);
}

/** Reads the posted object, with its managed fields. @throws StatusError 400, 413, 415 or 422 */
async function readPosted(
  { kernel, request, query, resource, target, warnings }: ApiCall,
  { group, version, kind }: GroupVersionKind,
  { alsoFrom = [], addDefaults }: Pick<Action, "alsoFrom" | "addDefaults"> = {},
): Promise<{ readonly object: KubeObject; readonly options: WriteOptions }> {
  const row = { group, version, kind, custom: false };
  const schema = builtInSchema(row);
  const body = await readBody(request, row);
  const options = writeOptions(query, "CreateOptions");
  const warn = (message: string): void => void warnings.push(message);
  const object = decodeObject(body, { row, schema, fieldValidation: options.fieldValidation, alsoFrom, warn });
  const isReview = kind.endsWith("Review");
  addDefaults?.(object);
  if (isReview) wipeSystemFields(object);
  if (schema === undefined) return { object, options };
  if (resource.row.namespaced && object.metadata.namespace === undefined) object.metadata.namespace = target.namespace;
  const tracked = updateManagedFields({
    schema,
    live: undefined,
    // The response to a review omits empty lists and maps.
    next: isReview ? storedForm(schema, object) : object,
    manager: managerOf(options.fieldManager, request),
    subresource: target.subresource,
    apiVersion: apiVersionOf(row),
    now: timestamp(kernel.now()),
  });
  return { object: tracked, options };
}
