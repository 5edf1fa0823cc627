/** JSON merge patch. @see https://datatracker.ietf.org/doc/html/rfc7386 */
import { badRequest } from "../status.ts";
import { jsonKind } from "./json-patch.ts";
import { NumberText } from "../schema/number-text.ts";
import { asMap, type JsonMap } from "./typed-values.ts";
import { setField } from "../schema/set-field.ts";

/**
 * Returns the document with the patch merged into it; the argument stays as it is.
 *
 * @throws StatusError 400 for an invalid patch
 */
export function mergePatch(document: unknown, patch: unknown): unknown {
  if (patch === null) throw badRequest("Invalid JSON Patch");
  const fields = fieldsOf(patch);
  if (!fields) {
    const type = "map[string]interface {}";
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type ${type}`);
  }
  return merged(asMap(document) ?? {}, fields);
}

/** Numbers that keep their spelling are not objects. */
function fieldsOf(value: unknown): JsonMap | undefined {
  return value instanceof NumberText ? undefined : asMap(value);
}

function merged(document: JsonMap, patch: JsonMap): JsonMap {
  const result: Record<string, unknown> = { ...document };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      delete result[name];
      continue;
    }
    const fields = fieldsOf(value);
    const before = Object.hasOwn(document, name) ? asMap(document[name]) : undefined;
    setField(result, name, fields && before ? merged(before, fields) : withoutNulls(value));
  }
  return sorted(result);
}

/** Sorts the fields of an object that a patch touches, as the JSON library of kube-apiserver does. */
function sorted(fields: JsonMap): JsonMap {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(fields).toSorted()) setField(result, name, fields[name]);
  return result;
}

/** Items of lists may be null, fields may not; the fields of new objects are sorted. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  const fields = fieldsOf(value);
  if (!fields) return value;
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => field !== null)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, withoutNulls(field)]),
  );
}
