/** Serves `scale`: the number of replicas of a workload, whatever its kind. */
import { validateMetadata } from "../validation/metadata.ts";
import { dnsSubdomain } from "../validation/formats.ts";
import { Field } from "../validation/field.ts";
import { builtInSchema } from "../tables/tables.ts";
import { scaledEntries, scaleEntries } from "../patch/scale-managers.ts";
import type { FieldError } from "../field-error.ts";
import type { KubeObject } from "../hooks.ts";
import { apiVersionOf, keyOf } from "../registry/resource.ts";
import { scalePrinter } from "../printers/printers.ts";
import { answerJson } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { checkExport, writeOptions } from "../request/query.ts";
import { badRequest, conflict, internalError, invalid, notFound, StatusError } from "../status.ts";
import { Stored } from "../storage/stored.ts";
import { applied } from "../verbs/apply.ts";
import type { ApiCall } from "../verbs/api-call.ts";
import { formOf } from "../verbs/forms.ts";
import { patched } from "../verbs/patch.ts";
import { applyType, readPatch } from "../verbs/patch-body.ts";
import { type Change, changeObject } from "../verbs/write.ts";
import { checkName, ensureNamespace } from "../verbs/write-checks.ts";
import type { Lens } from "../verbs/write-state.ts";
import { replicasPath, scaleOf, scaleRow, withReplicas } from "./scale-object.ts";

export async function getScale(call: ApiCall): Promise<Response> {
  const { resource, query } = call;
  checkExport(query);
  const { scale, isSaid } = scaleOf(resource, await liveObject(call));
  if (!isSaid && resource.scale !== undefined)
    throw internalError(`the spec replicas field ${JSON.stringify(resource.scale.specReplicas)} does not exist`);
  return answer(call, scale);
}

export async function putScale(call: ApiCall): Promise<Response> {
  const { request, query, warnings, target } = call;
  const body = await readBody(request, scaleRow);
  const options = writeOptions(query, "UpdateOptions");
  const scale = asCustomScale(call, () =>
    decodeObject(body, {
      row: scaleRow,
      schema: builtInSchema(scaleRow),
      fieldValidation: options.fieldValidation,
      warn: (message) => void warnings.push(message),
    }),
  );
  checkName(scale, target.name);
  ensureNamespace(call, scale);
  return change(call, { produce: () => structuredClone(scale), options, optionsKind: "UpdateOptions" });
}

/** Reports a body of an unknown kind like the handler of custom objects. */
function asCustomScale({ resource }: ApiCall, decode: () => KubeObject): KubeObject {
  try {
    return decode();
  } catch (error) {
    const isUnknown =
      error instanceof StatusError &&
      /no kind "|unexpected GroupVersion|unknown conversion|handled as a Scale: json:/.test(error.message);
    if (!resource.row.custom || !isUnknown) throw error;
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
}

export async function patchScale(call: ApiCall): Promise<Response> {
  const body = await readPatch(call);
  const isApply = body.type === applyType;
  const form = { row: scaleRow, schema: builtInSchema(scaleRow), apiVersion: "autoscaling/v1" };
  return change(call, {
    produce: isApply ? appliedScale(call, applied(call, body, form)) : patched(call, body, form),
    options: body.options,
    optionsKind: "PatchOptions",
    isTracked: isApply,
    isRepeatable: true,
  });
}

/**
 * Fails like kube-apiserver, which cannot apply the scale of a custom object before it has managed fields for it.
 *
 * @throws StatusError 500
 */
function appliedScale({ resource, target }: ApiCall, produce: Change["produce"]): Change["produce"] {
  if (!resource.row.custom) return produce;
  return async (live) => {
    const why = "request to convert CR to an invalid group/version: autoscaling/v1";
    if (live?.metadata.managedFields?.length) {
      await produce(live); // Conflicts and mistakes in the body are reported first.
      const what = `failed to convert new object (/${target.name}; autoscaling/v1, Kind=Scale) to proper version`;
      throw new StatusError(500, "", { message: `${what}: ${why}` });
    }
    // The kind of the body is checked before everything else.
    await Promise.resolve(produce(live)).catch((error: unknown) => {
      if (error instanceof StatusError && error.message.startsWith("invalid object type")) throw error;
    });
    const what = "failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version";
    throw new StatusError(500, "", { message: `failed to create manager for existing fields: ${what}: ${why}` });
  };
}

async function change(call: ApiCall, request: Change): Promise<Response> {
  formOf(scaleCall(call));
  const { stored } = await changeObject(call, { ...request, createsAbsent: false, lens: lensOf(call) });
  return answer(call, scaleOf(call.resource, stored.object).scale);
}

/** Responds with the scale in the requested form. */
function answer(call: ApiCall, scale: KubeObject): Response {
  const { request, warnings, accept } = call;
  const json = formOf(scaleCall(call)).one(new Stored("", 0, { object: scale }));
  return answerJson(request, json, { warnings, media: accept.media });
}

/** Returns the call as if its path were that of a scale, so that tables and metadata have the scale's kind. */
function scaleCall(call: ApiCall): ApiCall {
  const { resource } = call;
  const row = { ...resource.row, group: scaleRow.group, version: scaleRow.version, kind: scaleRow.kind };
  return { ...call, resource: { ...resource, row, printer: scalePrinter(resource.row.custom) } };
}

/** The value that stands for a custom object's unspecified number. */
const unsaid = -(2 ** 31);

/** Returns functions that show an object as its scale and turn a scale back into the object. */
function lensOf(call: ApiCall): Lens {
  const { kernel, resource } = call;
  const paths = (apiVersion: string): string[] | null | undefined => {
    if (!resource.row.custom) return apiVersion === resource.apiVersion ? replicasPath(resource) : undefined;
    const [group = "", version = ""] = apiVersion.split("/");
    const other = group === resource.row.group ? kernel.registry.get(group, version, resource.row.plural) : undefined;
    if (other === undefined) return undefined;
    return other.scale === undefined ? null : replicasPath(other);
  };
  return {
    apiVersion: apiVersionOf(scaleRow),
    schema: builtInSchema(scaleRow),
    show: (object) => scaleOf(resource, object).scale,
    before(live) {
      const { scale, isSaid } = scaleOf(resource, live);
      if (!isSaid && resource.scale !== undefined) scale["spec"] = { replicas: unsaid };
      const managedFields = scaleEntries(live.metadata.managedFields, paths);
      return { ...scale, metadata: { ...scale.metadata, ...(managedFields && { managedFields }) } };
    },
    after(scale, live) {
      const { replicas = 0 } = (scale["spec"] ?? {}) as { replicas?: number };
      checkScale(call, scale, { live, replicas });
      const object = withReplicas(resource, live, replicas);
      const managedFields = scaledEntries(live.metadata.managedFields, scale.metadata.managedFields, {
        paths,
        apiVersion: resource.apiVersion,
      });
      const { managedFields: _, ...metadata } = object.metadata;
      const version = scale.metadata.resourceVersion ?? "";
      const resourceVersion = version === "" && resource.row.custom ? (metadata.resourceVersion ?? "") : version;
      return { ...object, metadata: { ...metadata, resourceVersion, ...(managedFields && { managedFields }) } };
    },
  };
}

function checkScale(
  { resource, target }: ApiCall,
  scale: KubeObject,
  { live, replicas }: { readonly live: KubeObject; readonly replicas: number },
): void {
  if (resource.scale !== undefined) {
    if (replicas !== unsaid) return;
    throw badRequest(`the spec replicas field ${JSON.stringify(resource.scale.specReplicas)} cannot be empty`);
  }
  const errors: FieldError[] = [];
  const row = { group: "", plural: "", namespaced: true, custom: false };
  validateMetadata(new Field("metadata", scale.metadata, { errors }), { row, format: dnsSubdomain });
  if (replicas < 0) {
    const detail = "must be greater than or equal to 0";
    errors.push({ type: "Invalid", field: "spec.replicas", badValue: replicas, detail });
  }
  if (errors.length > 0) throw invalid(scaleRow, target.name, { errors });
  const { uid } = scale.metadata;
  if (!uid || uid === live.metadata.uid) return;
  const { group, plural } = resource.row;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
  throw conflict({ group, plural: `${plural}/scale` }, target.name, { why });
}

async function liveObject({ kernel, resource, target }: ApiCall): Promise<KubeObject> {
  await kernel.storage.committed();
  const stored = resource.collection.get(keyOf(resource, target.namespace, target.name));
  if (stored === undefined) throw notFound(resource.row, target.name);
  const [view = stored] = await resource.view([stored]);
  return view.object;
}
