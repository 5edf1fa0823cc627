/** Server-side apply, which is one of the forms of a patch. */
import type { Fields, KubeObject } from "../hooks.ts";
import { hasUnusualNumbers, parseAsGo, settled } from "../numbers.ts";
import { badRequest, conflict } from "../status.ts";
import { strictWarnings } from "../request/body.ts";
import { depthProblem } from "../request/json-problem.ts";
import { duplicateFields } from "../request/strict-json.ts";
import { YamlError } from "../yaml/cursor.ts";
import { type DecodedYaml, decodeYaml } from "../yaml/decode-yaml.ts";
import { ensureNamespace } from "./create.ts";
import { type ApiCall, managerOf, timestamp } from "./api-call.ts";
import { acrossVersions } from "./other-versions.ts";
import type { PatchBody, PatchForm } from "./patch-body.ts";
import { resetFields, resetNew } from "./reset.ts";
import { type Change, checkName } from "./update.ts";

/** Applies an object, including managed fields. */
export function applied(
  call: ApiCall,
  body: PatchBody,
  { row, schema, apiVersion }: PatchForm = call.resource,
): Change["produce"] {
  const { kernel, resource, target, request } = call;
  const { schemas, patches } = kernel.machinery;
  return (live) => {
    if (schema === undefined) throw new Error(`${row.kind} has no schema to apply it by`);
    const given = readApplied(body);
    // The rules see what is empty, and storage drops it.
    if (/\[\s*\]|\{\s*\}/.test(body.text)) call.hasEmpty = true;
    const now = timestamp(kernel.now());
    const result = acrossVersions(call, [live], (convert) =>
      patches.apply({
        schema,
        live,
        applied: given.fields,
        manager: managerOf(body.options.fieldManager, request),
        force: body.options.force,
        subresource: target.subresource,
        apiVersion,
        kind: row.kind,
        now,
        resetFields: resetFields(call),
        convert,
      }),
    );
    const finished = (merged: KubeObject): KubeObject => {
      checkRepeated(call, body, given.repeated());
      const object = structuredClone(merged);
      if (live === undefined && object.metadata.uid) {
        const why = `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`;
        throw conflict(resource.row, target.name, { why });
      }
      ensureNamespace(call, object);
      checkName(object, target.name);
      object.apiVersion = apiVersion;
      if (live !== undefined) {
        const { resourceVersion = live.metadata.resourceVersion } = (given.fields["metadata"] ?? {}) as Fields;
        object.metadata.resourceVersion = String(resourceVersion ?? "");
      }
      schemas.applyDefaults(schema, object);
      return live === undefined ? resetNew(resource, object) : object;
    };
    return result instanceof Promise ? result.then(finished) : finished(result);
  };
}

interface AppliedFields {
  readonly fields: Fields;
  /** Returns the findings of strict decoding; `undefined` when there are none. */
  readonly repeated: () => string | undefined;
}

/** Parses the applied object. @throws StatusError 400 for invalid YAML, or for anything but a map. */
function readApplied({ text }: PatchBody): AppliedFields {
  const { value, repeated } = decoded(text);
  if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
    const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    const why = `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  return { fields: (value ?? {}) as Fields, repeated };
}

interface LazilyChecked {
  readonly value: unknown;
  readonly repeated: () => string | undefined;
}

function decoded(text: string): LazilyChecked {
  if (depthProblem(text) !== undefined)
    throw badRequest("error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth of 10000");
  const json = asJson(text);
  try {
    if (json === undefined) {
      const yaml = decodeYaml(text);
      return { value: yaml.value, repeated: () => said(yaml) };
    }
    return { value: json, repeated: () => (duplicateFields(text).length === 0 ? undefined : said(decodeYaml(text))) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

function said({ repeated }: DecodedYaml): string | undefined {
  return repeated === undefined ? undefined : `error converting YAML to JSON: ${repeated}`;
}

/** What YAML reads as another value, or refuses: unpaired surrogates, escaped slashes, and numbers beyond all floats. */
const otherInYaml = /\\(u[dD][89a-fA-F]|\/)|[eE]\+?\d{3}|\d{300}/;

/** Most clients send JSON, which is parsed faster. YAML makes an integer of a float without a fraction, as storage does. */
function asJson(text: string): unknown {
  if (!text.trimStart().startsWith("{") || otherInYaml.test(text)) return undefined;
  try {
    return hasUnusualNumbers(text) ? settled(parseAsGo(text)) : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** Reports duplicate fields. @throws StatusError 400 when decoding is strict. */
function checkRepeated({ warnings }: ApiCall, { options }: PatchBody, repeated: string | undefined): void {
  if (repeated === undefined || options.fieldValidation === "Ignore") return;
  if (options.fieldValidation === "Strict") throw badRequest(`error strict decoding YAML: ${repeated}`);
  warnings.push(...strictWarnings(repeated).filter((each) => !warnings.includes(each)));
}
