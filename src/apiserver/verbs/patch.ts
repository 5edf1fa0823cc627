/** PATCH in its four forms. */
import { type FieldError, goJson } from "../field-error.ts";
import type { KubeObject } from "../hooks.ts";
import type { Patches, SchemaHandle, Schemas } from "../parts.ts";
import { goPlain } from "../schema/go-format.ts";
import { answerJson } from "../request/answer.ts";
import { bodyBytes, decodeText, mediaType, typed, unsupportedMediaType, whyOther } from "../request/body.ts";
import { jsonProblem } from "../request/json-problem.ts";
import { checkPatchOptions, type WriteOptions, writeOptions } from "../request/query.ts";
import { decodeYaml, repeatedKeys, yamlProblem } from "../request/yaml.ts";
import { badRequest, invalid, StatusError } from "../status.ts";
import { ensureNamespace } from "./create.ts";
import { type Exchange, managerOf, timestamp } from "./exchange.ts";
import { formOf } from "./forms.ts";
import { acrossVersions } from "./other-versions.ts";
import { patchedText } from "./patched-text.ts";
import { resetFields, resetNew } from "./reset.ts";
import { type Change, changeObject, checkName } from "./update.ts";

export const applyType = "application/apply-patch+yaml";

const types = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  applyType,
];

/** A patch as it was sent. */
export interface PatchBody {
  readonly type: string;
  readonly text: string;
  readonly options: WriteOptions;
}

/** @throws StatusError 400, 415 or 422. */
export async function readPatch({ request, resource, query }: Exchange): Promise<PatchBody> {
  const type = mediaType(request);
  if (!types.includes(type)) {
    if (resource.row.custom) throw unsupportedMediaType(types.filter((one) => !one.includes("strategic")));
    throw new StatusError(415, "UnsupportedMediaType", { message: "415: Unsupported Media Type", details: {} });
  }
  if (resource.row.custom && type.includes("strategic"))
    throw unsupportedMediaType(types.filter((one) => !one.includes("strategic")));
  const text = decodeText(await bodyBytes(request));
  checkPatchOptions(query, type === applyType);
  return { type, text, options: writeOptions(query, "PatchOptions") };
}

export async function patch(exchange: Exchange): Promise<Response> {
  const { request, accept, warnings, target, kernel } = exchange;
  const form = formOf(exchange);
  const body = await readPatch(exchange);
  const isApply = body.type === applyType;
  const { stored, isNew } = await changeObject(exchange, {
    produce: isApply ? applied(exchange, body) : patched(exchange, body),
    options: body.options,
    optionsKind: "PatchOptions",
    createsAbsent: isApply && target.subresource === "",
    isTracked: isApply,
    isRepeatable: true,
  });
  await kernel.storage.committed();
  return answerJson(request, form.one(stored), { status: isNew ? 201 : 200, warnings, yaml: accept.yaml });
}

/** What a JSON, merge or strategic merge patch makes of an object. */
function patched(exchange: Exchange, body: PatchBody): (live: KubeObject | undefined) => KubeObject {
  const { resource, target, warnings } = exchange;
  const said = new Set<string>();
  // The patch may be made anew for another version of the object: each warning once.
  const warn = (problem: string): void => {
    if (!said.has(problem)) warnings.push(problem);
    said.add(problem);
  };
  return (live) => {
    if (live === undefined) throw new Error("a patch without an object to patch");
    const object = patchObject(exchange, body, { live, row: resource.row, schema: resource.schema, warn });
    checkName(object, target.name);
    ensureNamespace(exchange, object);
    return object;
  };
}

interface PatchOf {
  readonly live: KubeObject;
  readonly row: { readonly group: string; readonly version: string; readonly kind: string; readonly custom: boolean };
  readonly schema: SchemaHandle | undefined;
  readonly warn: (problem: string) => void;
}

/**
 * A patched object, typed and with its defaults.
 *
 * @throws StatusError 422 when the patch makes no object of the kind.
 */
export function patchObject(exchange: Exchange, body: PatchBody, of: PatchOf): KubeObject {
  const { live, row, schema, warn } = of;
  const { schemas, patches } = exchange.kernel.parts;
  const { fieldValidation } = body.options;
  const patch = parsedPatch(body);
  const value = structuredClone(patchValue(patches, { body, patch, schema, live }));
  const isStrategic = body.type === "application/strategic-merge-patch+json";
  if (value.kind !== row.kind || value.apiVersion !== live.apiVersion) {
    if (row.custom) {
      checkCustomKind(value, { row, live });
    } else if (isStrategic) {
      // It lays fields over an object of the kind: what it says of the kind itself is not among them.
      Object.assign(value, { kind: row.kind, apiVersion: live.apiVersion });
    } else {
      checkKind(value, { body, patch, row, schemas, live, warn });
    }
  }
  const source = {
    text: body.text,
    type: "application/json",
    from: isStrategic ? ("value" as const) : ("json" as const),
  };
  const { object, error, strict, hasEmpty } = typed(value, source, { schema, schemas });
  if (hasEmpty) exchange.hasEmpty = true;
  const all = body.type === "application/json-patch+json" ? [...patches.strictErrors(patch), ...strict] : strict;
  const isRefused = fieldValidation === "Strict" && all.length > 0;
  const refused = error ?? (isRefused ? `strict decoding error: ${all.join(", ")}` : undefined);
  if (refused !== undefined) {
    // It is quoted as the real server writes it down: its fields in the order of Go where the patch does not say another.
    const again =
      schema === undefined
        ? value
        : structuredClone(patchValue(patches, { body, patch, schema, live: schemas.ordered(schema, live) }));
    throw cannotDecode(body, { patch, value: again, refused });
  }
  if (fieldValidation !== "Ignore") for (const problem of all) warn(problem);
  return object;
}

interface KindCheck extends Pick<PatchOf, "row" | "live" | "warn"> {
  readonly body: PatchBody;
  readonly patch: unknown;
  readonly schemas: Schemas;
}

/** What names no kind is of the path's; what names no version is no object, and so has no name either. @throws StatusError 400 or 422 */
function checkKind(value: KubeObject, { body, patch, row, schemas, live, warn }: KindCheck): void {
  if (!value.apiVersion) {
    const { apiVersion: _, kind: __, ...fields } = value;
    for (const name of Object.keys(fields).toSorted()) warn(`unknown field ${JSON.stringify(name)}`);
    checkName({ ...value, metadata: {} }, live.metadata.name ?? "");
  }
  if (!value.kind) value.kind = row.kind;
  if (value.kind === row.kind && value.apiVersion === live.apiVersion) return;
  throw cannotDecode(body, { patch, value, refused: whyOther(value, { row, schemas }) });
}

/** @throws StatusError 422, or 500 where the real server comes upon it too late */
function checkCustomKind(value: KubeObject, { row, live }: Pick<PatchOf, "row" | "live">): void {
  const name = live.metadata.name ?? "";
  const refused = (group: string, error: Omit<FieldError, "type">): StatusError =>
    invalid({ group, kind: value.kind }, name, { errors: [{ type: "Invalid", ...error }] });
  if (!value.kind) {
    const text = goJson(value);
    const detail = `Object 'Kind' is missing in '${text}'`;
    throw invalid({ group: "", kind: "" }, "", {
      errors: [{ type: "Invalid", field: "patch", badValue: text, detail }],
    });
  }
  if (value.kind !== row.kind)
    throw refused(row.group, { field: "kind", badValue: value.kind, detail: `must be ${row.kind}` });
  if (!value.apiVersion)
    throw new StatusError(500, "InternalError", {
      message: "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
      details: { causes: [{ message: "Object 'apiVersion' is missing in 'object has no apiVersion field'" }] },
    });
  const group = value.apiVersion.includes("/") ? value.apiVersion.slice(0, value.apiVersion.indexOf("/")) : "";
  throw refused(group, {
    field: "apiVersion",
    badValue: value.apiVersion,
    detail: `must be ${live.apiVersion}`,
  });
}

interface Refusal {
  readonly patch: unknown;
  readonly value: KubeObject;
  readonly refused: string;
}

/** The 422 that quotes the patched object, or the patch where the server never writes the object down. */
function cannotDecode({ type }: PatchBody, { patch, value, refused }: Refusal): StatusError {
  const badValue = type === "application/strategic-merge-patch+json" ? goPlain(patch) : patchedText(type, value, patch);
  const errors = [{ type: "Invalid" as const, field: "patch", badValue, detail: refused }];
  const error = invalid({ group: "", kind: "" }, "", { errors });
  return error;
}

interface PatchInput {
  readonly body: PatchBody;
  readonly patch: unknown;
  readonly schema: SchemaHandle | undefined;
  readonly live: KubeObject;
}

/** The patched object, before anybody has looked at it. */
function patchValue(patches: Patches, { body, patch, schema, live }: PatchInput): KubeObject {
  if (body.type === "application/json-patch+json") return patches.json(live, patch);
  if (body.type === "application/strategic-merge-patch+json" && schema !== undefined)
    return patches.strategic(schema, live, patch);
  return patches.merge(live, patch);
}

function parsedPatch({ text, type }: PatchBody): unknown {
  try {
    const patch = JSON.parse(text) as unknown;
    return patch === null && type === "application/json-patch+json" ? [] : patch;
  } catch {
    const prefix = type === "application/strategic-merge-patch+json" ? "" : "error decoding patch: ";
    throw badRequest(prefix + (jsonProblem(text) ?? "exceeded max depth"));
  }
}

/** What server-side apply makes of an object, its managed fields included. */
function applied(exchange: Exchange, body: PatchBody): Change["produce"] {
  const { kernel, resource, target, request } = exchange;
  const { schemas, patches } = kernel.parts;
  const { row, schema } = resource;
  return (live) => {
    if (schema === undefined) throw unsupportedMediaType(types.slice(0, 3));
    const given = appliedObject(exchange, body);
    if (!body.text.trimStart().startsWith("{") && body.options.fieldValidation === "Warn")
      exchange.warnings.push(...repeatedKeys(body.text).filter((each) => !exchange.warnings.includes(each)));
    // What it leaves empty is seen by the rules, and dropped when it is stored.
    if (/\[\s*\]|\{\s*\}/.test(body.text)) exchange.hasEmpty = true;
    const reset = resetApplied(exchange, given);
    const now = timestamp(kernel.now());
    const result = acrossVersions(exchange, live, (convert) =>
      patches.apply({
        schema,
        live,
        applied: reset,
        manager: managerOf(body.options.fieldManager, request),
        force: body.options.force,
        subresource: target.subresource,
        apiVersion: resource.apiVersion,
        now,
        resetFields: resetFields(exchange),
        convert,
      }),
    );
    const finished = (merged: KubeObject): KubeObject => {
      const object = structuredClone(merged);
      if (live === undefined) {
        object.metadata.name ??= target.name;
        if (row.namespaced) object.metadata.namespace ??= target.namespace;
      }
      if (live !== undefined)
        object.metadata.resourceVersion = given.metadata.resourceVersion ?? live.metadata.resourceVersion ?? "";
      schemas.applyDefaults(schema, object);
      return live === undefined ? resetNew(resource, object) : object;
    };
    return result instanceof Promise ? result.then(finished) : finished(result);
  };
}

/** @throws StatusError 400 when it is no object of the kind. */
function appliedObject({ resource, target }: Exchange, { text }: PatchBody): KubeObject {
  const { row } = resource;
  const value = parsedYaml(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${Array.isArray(value) ? "array" : typeof value} into Go value of type map[string]interface {}`,
    );
  const object = value as KubeObject;
  if (!object.apiVersion || !object.kind) {
    const missing = object.kind ? "apiVersion" : "Kind";
    throw badRequest(`invalid object type: Object '${missing}' is missing in '${JSON.stringify(value)}'`);
  }
  if (object.kind !== row.kind || object.apiVersion !== resource.apiVersion) {
    // The core group is written as an empty one.
    const version = object.apiVersion.includes("/") ? object.apiVersion : `/${object.apiVersion}`;
    throw badRequest(`invalid object type: ${version}, Kind=${object.kind}`);
  }
  object.metadata ??= {};
  if (object.metadata.managedFields !== undefined && object.metadata.managedFields !== null)
    throw badRequest("metadata.managedFields must be nil");
  const { name, namespace } = object.metadata;
  if (name && name !== target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  if (namespace && row.namespaced && namespace !== target.namespace)
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${target.namespace})`,
    );
  return object;
}

/** What the path does not write is not applied either. */
function resetApplied({ resource, target }: Exchange, object: KubeObject): KubeObject {
  if (!resource.hasStatus) return object;
  if (target.subresource === "status") {
    const { apiVersion, kind, metadata, status } = object;
    const kept = resource.row.custom ? { name: metadata.name, namespace: metadata.namespace } : metadata;
    return {
      apiVersion,
      kind,
      metadata: JSON.parse(JSON.stringify(kept)),
      ...(status === undefined ? {} : { status }),
    };
  }
  const { status: _, ...rest } = object;
  return rest;
}

function parsedYaml(text: string): unknown {
  try {
    return text.trimStart().startsWith("{") ? (JSON.parse(text) as unknown) : decodeYaml(text);
  } catch {
    try {
      return decodeYaml(text);
    } catch (error) {
      throw badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${yamlProblem(error)}`);
    }
  }
}
