/** Server-side apply, which is one of the forms of a patch. */
import type { Fields, KubeObject } from "../hooks.ts";
import { hasUnusualNumbers, parseAsGo, settled } from "../numbers.ts";
import { badRequest, conflict } from "../status.ts";
import { depthProblem, duplicateFields } from "../request/json-text.ts";
import { type Applied, serverSideApply } from "../patch/server-side-apply.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { decodeYaml, YamlError } from "../request/yaml.ts";
import { timestamp } from "../timestamp.ts";
import { type ApiCall, managerOf } from "./api-call.ts";
import { acrossVersions } from "./other-versions.ts";
import type { PatchBody, PatchForm } from "./patch-body.ts";
import { resetFields, resetNew } from "./reset.ts";
import type { Change } from "./write.ts";
import { checkName, ensureNamespace } from "./write-checks.ts";

/** Applies an object, including managed fields. */
export function applied(
  call: ApiCall,
  body: PatchBody,
  { row, schema, apiVersion }: PatchForm = call.resource,
): Change["produce"] {
  const { kernel, resource, target, request } = call;
  return (live) => {
    if (schema === undefined) throw new Error(`${row.kind} has no schema to apply it by`);
    const sent = readApplied(body);
    // The rules see what is empty, and storage drops it.
    if (/\[\s*\]|\{\s*\}/.test(body.text)) call.hasEmpty = true;
    const now = timestamp(kernel.now());
    const result = acrossVersions(call, [live], (convert) =>
      serverSideApply({
        schema,
        live,
        applied: sent.fields,
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
    const finished = ({ object: merged }: Applied): KubeObject => {
      checkRepeated(call, body, sent.repeated());
      const object = structuredClone(merged);
      if (live === undefined && object.metadata.uid) {
        const why = `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`;
        throw conflict(resource.row, target.name, { why });
      }
      ensureNamespace(call, object);
      checkName(object, target.name);
      object.apiVersion = apiVersion;
      if (live !== undefined) {
        const { resourceVersion = live.metadata.resourceVersion } = (sent.fields["metadata"] ?? {}) as Fields;
        object.metadata.resourceVersion = String(resourceVersion ?? "");
      }
      applyDefaults(schema, object);
      return live === undefined ? resetNew(resource, object) : object;
    };
    return result instanceof Promise ? result.then(finished) : finished(result);
  };
}

interface AppliedFields {
  readonly fields: Fields;
  /** Returns the findings of strict decoding: keys that a map has twice. */
  readonly repeated: () => readonly string[];
}

/** Parses the applied object. @throws StatusError 400 for invalid YAML, or for anything but a map */
function readApplied({ text }: PatchBody): AppliedFields {
  const problem = depthProblem(text);
  if (problem !== undefined) throw badRequest(`error decoding YAML: ${problem}`);
  try {
    const json = asJson(text);
    const yaml = json === undefined ? decodeYaml(text) : undefined;
    const value = json ?? yaml?.value ?? {};
    if (typeof value !== "object" || Array.isArray(value)) throw new YamlError("it is no map");
    const isWhole = (): boolean => yaml === undefined && duplicateFields(text).length === 0;
    return { fields: value as Fields, repeated: () => (isWhole() ? [] : (yaml ?? decodeYaml(text)).repeated) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`);
  }
}

/** JSON that YAML reads differently or refuses: unpaired surrogates, escaped slashes, numbers beyond the range of floats. */
const otherInYaml = /\\(u[dD][89a-fA-F]|\/)|[eE]\+?\d{3}|\d{300}/;

/**
 * Most clients send JSON, which is faster to parse. YAML reads a float without a fraction as an integer, as storage
 * does.
 */
function asJson(text: string): unknown {
  if (!text.trimStart().startsWith("{") || otherInYaml.test(text)) return undefined;
  try {
    return hasUnusualNumbers(text) ? settled(parseAsGo(text)) : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** Reports duplicate fields. @throws StatusError 400 when decoding is strict. */
function checkRepeated({ warnings }: ApiCall, { options }: PatchBody, repeated: readonly string[]): void {
  if (repeated.length === 0 || options.fieldValidation === "Ignore") return;
  if (options.fieldValidation === "Strict") throw badRequest(`error strict decoding YAML: ${repeated.join(", ")}`);
  warnings.push(...repeated.filter((each) => !warnings.includes(each)));
}
