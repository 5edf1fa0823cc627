/** PATCH in its four forms. */
import { type FieldError, goJson } from "../field-error.ts";
import type { KubeObject } from "../hooks.ts";
import { hasUnusualNumbers, isInteger, parseAsGo } from "../numbers.ts";
import type { Patches, SchemaHandle, Schemas } from "../machinery.ts";
import { copied, endlessNumber, parseWithNumberTexts, withGoNumbers } from "../schema/number-text.ts";
import { goPlain } from "../schema/go-format.ts";
import { answerJson } from "../request/answer.ts";
import { isRegistered } from "../registry/registered-kinds.ts";
import { goKind, groupVersionOf, notAnObject, parsedJson, typed, whyOther } from "../request/body.ts";
import { depthProblem, jsonProblem } from "../request/json-problem.ts";
import { badRequest, invalid, StatusError } from "../status.ts";
import { ensureNamespace } from "./create.ts";
import { applied } from "./apply.ts";
import type { ApiCall } from "./api-call.ts";
import { formOf } from "./forms.ts";
import { applyType, type PatchBody, type PatchForm, readPatch } from "./patch-body.ts";
import { patchedText } from "./patched-text.ts";
import { changeObject, checkName } from "./update.ts";

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
  const said = new Set<string>();
  // The patch may be applied again to another version of the object, so each warning is added once.
  const warn = (problem: string): void => {
    if (!said.has(problem)) warnings.push(problem);
    said.add(problem);
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
  readonly schema: SchemaHandle | undefined;
  readonly warn: (problem: string) => void;
}

/**
 * Returns a patched object, typed and with its defaults.
 *
 * @throws StatusError 422 when the result is not an object of the kind.
 */
function patchObject(call: ApiCall, body: PatchBody, of: PatchOf): KubeObject {
  const { live, row, schema, warn } = of;
  const { schemas, patches } = call.kernel.machinery;
  const { fieldValidation } = body.options;
  const patch = parsedPatch(body, row.custom);
  if (row.custom && hasUnusualNumbers(body.text)) call.hasFloats = true;
  const patchedValue = copied(patchValue(patches, { body, patch, schema, live }));
  const value = call.hasFloats === true ? withGoNumbers(patchedValue) : patchedValue;
  const isStrategic = body.type === "application/strategic-merge-patch+json";
  // It is quoted as the real server writes it: with its fields in Go's order where the patch does not set another.
  const shown = (): KubeObject =>
    schema === undefined
      ? value
      : copied(patchValue(patches, { body, patch, schema, live: schemas.ordered(schema, live) }));
  const unnamed = kindProblem(value, isStrategic);
  if (unnamed !== undefined) throw cannotDecode(body, { custom: row.custom, patch, value: shown(), refused: unnamed });
  if (value.kind !== row.kind || value.apiVersion !== live.apiVersion) {
    if (row.custom) {
      checkCustomKind(value, { row, live });
    } else if (isStrategic) {
      // The patch merges fields into an object of the kind, and cannot change the kind itself.
      Object.assign(value, { kind: row.kind, apiVersion: live.apiVersion });
    } else {
      checkKind(value, { body, patch, row, schemas, live, warn, shown });
    }
  }
  const source = {
    text: body.text,
    type: "application/json",
    repeatedFirst: true,
    from: isStrategic ? ("value" as const) : ("json" as const),
  };
  const { object, error: found, strict, hasEmpty } = typed(value, source, { schema, schemas });
  if (hasEmpty) call.hasEmpty = true;
  // Of several mistakes the first one of the patched text is told.
  const inText =
    found !== undefined && !row.custom && !isStrategic
      ? parseWithNumberTexts(patchedText(body.type, shown(), patch))
      : undefined;
  const error =
    inText === undefined ? found : (typed(inText as KubeObject, source, { schema, schemas }).error ?? found);
  const all = body.type === "application/json-patch+json" ? [...patches.strictErrors(patch), ...strict] : strict;
  const isRefused = fieldValidation === "Strict" && all.length > 0;
  const refused = error ?? (isRefused ? `strict decoding error: ${all.join(", ")}` : undefined);
  if (refused !== undefined) {
    const isBytes = isStrategic && refused.startsWith("illegal base64");
    throw cannotDecode(body, {
      custom: row.custom,
      patch: isStrategic && schema !== undefined ? patches.strategicRest(schema, live, patch) : patch,
      value: shown(),
      refused: isBytes ? `error decoding from json: ${refused}` : refused,
    });
  }
  if (fieldValidation !== "Ignore") for (const problem of all) warn(problem);
  return object;
}

interface KindCheck extends Pick<PatchOf, "row" | "live" | "warn"> {
  readonly body: PatchBody;
  readonly patch: unknown;
  readonly schemas: Schemas;
  /** Returns the object as errors quote it. */
  readonly shown: () => KubeObject;
}

/** Returns why an object's kind and version cannot even be read. */
function kindProblem(value: unknown, isStrategic: boolean): string | undefined {
  if (Array.isArray(value)) return notAnObject(value);
  for (const name of ["apiVersion", "kind"] as const) {
    const given = (value as Readonly<Record<string, unknown>>)[name];
    if (given === undefined || given === null || typeof given === "string") continue;
    if (isStrategic) return isInteger(given) ? "cannot convert int64 to string" : "unrecognized type: string";
    const why = `json: cannot unmarshal ${goKind(given)} into Go struct field .${name} of type string`;
    return `couldn't get version/kind; json parse error: ${why}`;
  }
  return undefined;
}

const earlierApps: ReadonlySet<string> = new Set(["apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"]);

/** Workloads have the same fields in earlier versions; the earliest took the labels of their template as their own. */
function fromEarlier(value: KubeObject, apiVersion: string): void {
  const { metadata, spec } = value as KubeObject & {
    spec?: { template?: { metadata?: { labels?: Record<string, string> } } };
  };
  const labels = spec?.template?.metadata?.labels;
  const isEarliest = value.apiVersion !== "apps/v1beta2" && value.kind !== "ControllerRevision";
  if (isEarliest && labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...labels };
  value.apiVersion = apiVersion;
}

/**
 * A missing kind is that of the path; a missing version makes the result invalid, without a name. @throws StatusError
 * 400 or 422
 */
function checkKind(value: KubeObject, { body, patch, row, schemas, live, warn, shown }: KindCheck): void {
  if (!value.apiVersion) {
    const { apiVersion: _, kind: __, ...fields } = value;
    for (const name of Object.keys(fields).toSorted()) warn(`unknown field ${JSON.stringify(name)}`);
    checkName({ ...value, metadata: {} }, live.metadata.name ?? "");
  }
  if (!value.kind) value.kind = row.kind;
  if (value.kind === row.kind && row.group === "apps" && earlierApps.has(value.apiVersion)) {
    const { group, version } = groupVersionOf(value.apiVersion);
    if (isRegistered({ group, version, kind: value.kind }, () => false)) fromEarlier(value, live.apiVersion);
  }
  if (value.kind === row.kind && value.apiVersion === live.apiVersion) return;
  throw cannotDecode(body, {
    custom: false,
    patch,
    value: { ...shown(), kind: value.kind },
    refused:
      value.apiVersion.split("/").length > 2
        ? `unexpected GroupVersion string: ${value.apiVersion}`
        : (asItsKind(value, schemas) ?? whyOther(value, { row, schemas })),
  });
}

/** Returns why it is not an object of the kind that it names. */
function asItsKind(value: KubeObject, schemas: Schemas): string | undefined {
  const schema = schemas.builtIn({ ...groupVersionOf(value.apiVersion), kind: value.kind });
  if (schema === undefined) return undefined;
  const source = { text: "", type: "application/json", from: "json" as const };
  return typed(copied(value), source, { schema, schemas }).error;
}

/** Checks a custom object. @throws StatusError 422, or 500 where the real server notices it too late */
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
  /** Whether the fields of the object have no order of their own. */
  readonly custom: boolean;
  readonly patch: unknown;
  readonly value: KubeObject;
  readonly refused: string;
}

/** Makes the 422 that quotes the patched object, or the patch where the server never encodes the object. */
function cannotDecode({ type }: PatchBody, { custom, patch, value, refused }: Refusal): StatusError {
  const text = (): string => (custom ? goJson(value) : patchedText(type, value, patch));
  const badValue = type === "application/strategic-merge-patch+json" ? goPlain(patch) : text();
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

/** Returns the patched object before any validation. */
function patchValue(patches: Patches, { body, patch, schema, live }: PatchInput): KubeObject {
  if (body.type === "application/json-patch+json") return patches.json(live, patch);
  if (body.type === "application/strategic-merge-patch+json" && schema !== undefined)
    return patches.strategic(schema, live, patch);
  return patches.merge(live, patch);
}

function parsedPatch({ text, type }: PatchBody, custom: boolean): unknown {
  const isStrategic = type === "application/strategic-merge-patch+json";
  const prefix = isStrategic ? "" : "error decoding patch: ";
  const deep = depthProblem(text);
  if (deep !== undefined) throw badRequest(prefix + deep);
  try {
    const endless = /\d[eE]\+?\d{3}/.test(text) ? endlessNumber(text) : undefined;
    if (endless !== undefined)
      throw badRequest(
        `${prefix}json: cannot unmarshal number ${endless} into Go ${type === "application/json-patch+json" ? "struct field jsonPatchOp.value" : "value"} of type float64`,
      );
    // The other two patches change JSON text, in which numbers keep their spelling.
    const isUnusual = hasUnusualNumbers(text);
    const isSpelled = isUnusual && !isStrategic && (!custom || type === "application/json-patch+json");
    const patch = isSpelled ? parseWithNumberTexts(text) : isUnusual ? parseAsGo(text) : parsedJson(text);
    return patch === null && type === "application/json-patch+json" ? [] : patch;
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(prefix + (jsonProblem(text) ?? "exceeded max depth"));
  }
}
