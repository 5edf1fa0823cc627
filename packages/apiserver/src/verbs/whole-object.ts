/** POST and PUT, which send a whole object. */
import type { KubeObject } from "../hooks.ts";
import { answerJson } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { type WriteOptions, writeOptions } from "../request/query.ts";
import type { ApiCall } from "./api-call.ts";
import { formOf } from "./forms.ts";
import { changeObject, createObject } from "./write.ts";
import { checkName, checkNamed, checkOwners, ensureNamespace } from "./write-checks.ts";

export async function create(call: ApiCall): Promise<Response> {
  const { request, accept, warnings } = call;
  const form = formOf(call);
  const { object, options } = await readObject(call, "CreateOptions");
  const stored = await createObject(call, object, { options, optionsKind: "CreateOptions" });
  return answerJson(request, form.one(stored), { status: 201, warnings, media: accept.media });
}

export async function update(call: ApiCall): Promise<Response> {
  const { request, target, accept, warnings } = call;
  checkNamed(target);
  const form = formOf(call);
  const { object, options } = await readObject(call, "UpdateOptions");
  ensureNamespace(call, object);
  checkName(object, target.name);
  checkOwners(call, object);
  const change = { produce: () => structuredClone(object), options, optionsKind: "UpdateOptions" } as const;
  const { stored, isNew } = await changeObject(call, change);
  return answerJson(request, form.one(stored), { status: isNew ? 201 : 200, warnings, media: accept.media });
}

/** Reads the object of the body and the options of the query. @throws StatusError 400, 413, 415 or 422 */
async function readObject(
  call: ApiCall,
  kind: "CreateOptions" | "UpdateOptions",
): Promise<{ readonly object: KubeObject; readonly options: WriteOptions }> {
  const { resource, query, request, warnings } = call;
  const { row, schema } = resource;
  const body = await readBody(request, row);
  const options = writeOptions(query, kind);
  const object = decodeObject(body, {
    row,
    schema,
    fieldValidation: options.fieldValidation,
    warn: (message) => void warnings.push(message),
    noteEmpty: () => void (call.hasEmpty = true),
    noteNumbers: () => void (call.hasFloats = true),
  });
  return { object, options };
}
