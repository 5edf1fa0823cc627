/** PATCH in its four forms. */
import { type FieldError, goJson } from "../field-error.ts";
import type { KubeObject } from "../hooks.ts";
import { hasUnusualNumbers, parseAsGo } from "../numbers.ts";
import { jsonPatch, jsonPatchStrictErrors } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import type { Schema } from "../schema/schema.ts";
import { copied, isEndless, parseWithNumberTexts, withGoNumbers } from "../schema/number-text.ts";
import { answerJson } from "../request/answer.ts";
import { jsonType, otherKind, parsedJson, typed } from "../request/body.ts";
import { depthProblem } from "../request/json-text.ts";
import { badRequest, invalid, StatusError } from "../status.ts";
import { applied } from "./apply.ts";
import type { ApiCall } from "./api-call.ts";
import { formOf } from "./forms.ts";
import { applyType, type PatchBody, type PatchForm, readPatch } from "./patch-body.ts";
import { changeObject } from "./write.ts";
import { checkName, ensureNamespace } from "./write-checks.ts";

export async function patch(call: ApiCall): Promise<Response> {
  const { request, accept, warnings, target, kernel } = call;
  const form = formOf(call);
  const body = await readPatch(call);
  const isApply = body.type === applyType;
  const { stored, isNew } = await changeObject(call, {
    produce: isApply ? applied(call, body) : patched(call, body),
    options: body.options,
    optionsKind: "PatchOptions",
    createsAbsent: isApply && target.subresource === "",
    isTracked: isApply,
    isRepeatable: true,
  });
  await kernel.storage.committed();
  return answerJson(request, form.one(stored), { status: isNew ? 201 : 200, warnings, media: accept.media });
}

/** Applies a JSON, merge or strategic merge patch to an object. */
export function patched(
  call: ApiCall,
  body: PatchBody,
  { row, schema }: PatchForm = call.resource,
): (live: KubeObject | undefined) => KubeObject {
  const { target, warnings } = call;
  const warned = new Set<string>();
  // The patch may be applied again to another version of the object, so each warning is added once.
  const warn = (problem: string): void => {
    if (!warned.has(problem)) warnings.push(problem);
    warned.add(problem);
  };
  return (live) => {
    if (live === undefined) throw new Error("a patch without an object to patch");
    const object = patchObject(call, body, { live, row, schema, warn });
    ensureNamespace(call, object);
    checkName(object, target.name);
    return object;
  };
}

interface PatchOf {
  readonly live: KubeObject;
  readonly row: PatchForm["row"];
  readonly schema: Schema | undefined;
  readonly warn: (problem: string) => void;
}

/**
 * Returns a patched object, typed and with its defaults.
 *
 * @throws StatusError 422 when the result is not an object of the kind.
 */
function patchObject(call: ApiCall, body: PatchBody, of: PatchOf): KubeObject {
  const { live, row, schema, warn } = of;
  const { fieldValidation } = body.options;
  const patch = parsedPatch(body, row.custom);
  if (row.custom && hasUnusualNumbers(body.text)) call.hasFloats = true;
  const patchedValue = copied(patchValue({ body, patch, schema, live }) as KubeObject);
  const value = call.hasFloats === true ? withGoNumbers(patchedValue) : patchedValue;
  const isStrategic = body.type === "application/strategic-merge-patch+json";
  const unnamed = kindProblem(value);
  if (unnamed !== undefined) throw cannotDecode(value, unnamed);
  if (value.kind !== row.kind || value.apiVersion !== live.apiVersion) {
    if (row.custom) {
      checkCustomKind(value, { row, live });
    } else if (isStrategic) {
      // The patch merges fields into an object of the kind, and cannot change the kind itself.
      Object.assign(value, { kind: row.kind, apiVersion: live.apiVersion });
    } else {
      checkKind(value, { row, live, warn });
    }
  }
  const source = {
    text: body.text,
    type: "application/json",
    from: isStrategic ? ("value" as const) : ("json" as const),
  };
  const { object, error, strict, hasEmpty } = typed(value, source, schema);
  if (hasEmpty) call.hasEmpty = true;
  const all = body.type === "application/json-patch+json" ? [...jsonPatchStrictErrors(patch), ...strict] : strict;
  const isRefused = fieldValidation === "Strict" && all.length > 0;
  const problem = error ?? (isRefused ? `strict decoding error: ${all.join(", ")}` : undefined);
  if (problem !== undefined) throw cannotDecode(value, problem);
  if (fieldValidation !== "Ignore") for (const each of all) warn(each);
  return object;
}

/** Returns why an object's kind and version cannot even be read. */
function kindProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) return "it is a JSON array";
  for (const name of ["apiVersion", "kind"] as const) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field !== undefined && field !== null && typeof field !== "string")
      return `${name} is a JSON ${jsonType(field)}`;
  }
  return undefined;
}

/**
 * A missing kind is that of the path; a missing version makes the result invalid, without a name. @throws StatusError
 * 400 or 422
 */
function checkKind(value: KubeObject, { row, live, warn }: Pick<PatchOf, "row" | "live" | "warn">): void {
  if (!value.apiVersion) {
    const { apiVersion: _, kind: __, ...fields } = value;
    for (const name of Object.keys(fields).toSorted()) warn(`unknown field ${JSON.stringify(name)}`);
    checkName({ ...value, metadata: {} }, live.metadata.name ?? "");
  }
  if (!value.kind) value.kind = row.kind;
  if (value.kind !== row.kind || value.apiVersion !== live.apiVersion) throw cannotDecode(value, otherKind(value));
}

/** Checks kind and version of a patched custom object. @throws StatusError 422, or 500 where the real server notices it too late */
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

/** Makes the 422 that quotes the patched object. */
function cannotDecode(value: KubeObject, detail: string): StatusError {
  const errors = [{ type: "Invalid" as const, field: "patch", badValue: goJson(value), detail }];
  return invalid({ group: "", kind: "" }, "", { errors });
}

interface PatchInput {
  readonly body: PatchBody;
  readonly patch: unknown;
  readonly schema: Schema | undefined;
  readonly live: KubeObject;
}

/** Returns the patched object before any validation. */
function patchValue({ body, patch, schema, live }: PatchInput): unknown {
  if (body.type === "application/json-patch+json") return jsonPatch(live, patch);
  if (body.type === "application/strategic-merge-patch+json" && schema !== undefined)
    return strategicMergePatch(schema, live, patch);
  return mergePatch(live, patch);
}

function parsedPatch({ text, type }: PatchBody, custom: boolean): unknown {
  const isStrategic = type === "application/strategic-merge-patch+json";
  try {
    const problem = depthProblem(text) ?? (isEndless(text) ? "a number exceeds the range of a float64" : undefined);
    if (problem !== undefined) throw new SyntaxError(problem);
    // The other two patches change JSON text, in which numbers keep their spelling.
    const isUnusual = hasUnusualNumbers(text);
    const isSpelled = isUnusual && !isStrategic && (!custom || type === "application/json-patch+json");
    const patch = isSpelled ? parseWithNumberTexts(text) : isUnusual ? parseAsGo(text) : parsedJson(text);
    return patch === null && type === "application/json-patch+json" ? [] : patch;
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}
