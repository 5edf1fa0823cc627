/** Strategic merge patch. @see https://git.k8s.io/community/contributors/devel/sig-api-machinery/strategic-merge-patch.md */
import { goJson } from "../field-error.ts";
import type { Schema } from "../schema/schema.ts";
import { badRequest } from "../status.ts";
import { jsonKind } from "./json-patch.ts";
import { deleteFromPrimitives, inOrder, type MergedList, mergeSlices, partition, sameKind } from "./strategic-lists.ts";
import { directive, type Fields, goTypeOf, identity, isFields, unfit } from "./strategic-values.ts";
import { setField } from "../schema/set-field.ts";

const retainKeys = "$retainKeys";
const deletePrefix = "$deleteFromPrimitiveList";
const orderPrefix = "$setElementOrder";

/**
 * Returns the object with the patch merged into it; the arguments stay as they are.
 *
 * @throws StatusError 400 for an invalid patch, and 500 for one that does not fit the object, as the real server does
 */
export function strategicMergePatch(schema: Schema, object: unknown, patch: unknown): unknown {
  if (!isFields(patch)) {
    const type = "map[string]interface {}";
    if (patch === null) return structuredClone(object);
    throw badRequest(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type ${type}`);
  }
  return mergeFields(structuredClone(object) as Fields, structuredClone(patch), schema);
}

/** Merges the fields; it changes both arguments. */
function mergeFields(original: Fields, patch: Fields, schema: Schema | undefined): Fields {
  if (Object.hasOwn(patch, directive)) return wholeDirective(patch);
  applyRetainKeys(original, patch);
  applyOrders(original, patch, schema);
  for (const [name, value] of Object.entries(patch)) {
    const deletes = name.startsWith(deletePrefix);
    const key = deletes ? keyBehind(name, deletePrefix) : name;
    if (value === null) {
      delete original[key];
      continue;
    }
    if (!Object.hasOwn(original, key) || !sameJsonType(original[key], value)) {
      if (!deletes) take(original, key, value);
      continue;
    }
    mergeField(original, key, { value, deletes, schema });
  }
  return original;
}

interface FieldPatch {
  readonly value: unknown;
  readonly deletes: boolean;
  readonly schema: Schema | undefined;
}

function mergeField(original: Fields, key: string, { value, deletes, schema }: FieldPatch): void {
  const before = original[key];
  const field = schema?.properties?.get(key) ?? schema?.additional;
  const strategy = strategyOf(field);
  if (Array.isArray(before)) {
    const items = value as unknown[];
    if (deletes && sameKind(before, items)) throw unfit("cannot merge lists without merge key for struct");
    if (deletes) original[key] = deleteFromPrimitives(before, items);
    else if (strategy === "merge") original[key] = mergeSlices(before, items, listOf(field));
    else original[key] = items;
  } else if (isFields(before)) {
    original[key] = strategy === "replace" ? value : mergeFields(before, value as Fields, field);
  } else take(original, key, value);
}

function take(original: Fields, key: string, value: unknown): void {
  discardNulls(value);
  const rest = withoutDirectives(value);
  if (rest === undefined) delete original[key];
  else setField(original, key, rest);
}

function wholeDirective(patch: Fields): Fields {
  const what = patch[directive];
  if (what === "replace") {
    delete patch[directive];
    return patch;
  }
  if (what === "delete") return {};
  throw unfit(`unknown patch type: ${goJson(what)} in map: ${goJson(patch)}`);
}

function applyRetainKeys(original: Fields, patch: Fields): void {
  if (!Object.hasOwn(patch, retainKeys)) return;
  const keys = patch[retainKeys];
  delete patch[retainKeys];
  const format = () => badRequest("invalid patch format of retainKeys");
  if (!Array.isArray(keys)) throw format();
  const names = new Set(keys as unknown[]);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || name.startsWith(deletePrefix) || name.startsWith(orderPrefix)) continue;
    if (!names.has(name)) throw format();
  }
  for (const name of Object.keys(original)) if (!names.has(name)) delete original[name];
}

/** Merges the lists whose order the patch sets, and removes them from the patch. */
function applyOrders(original: Fields, patch: Fields, schema: Schema | undefined): void {
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(orderPrefix)) continue;
    delete patch[name];
    if (!Array.isArray(order)) throw unfit(`expected a []interface {}, but received a ${goTypeOf(order)}`);
    const key = keyBehind(name, orderPrefix);
    const field = schema?.properties?.get(key);
    const list = listOf(field);
    const before = listAt(original, key);
    const items = listAt(patch, key);
    checkOrder(items ?? [], order as unknown[], list.mergeKey);
    if (!before && !items) continue;
    let merged: unknown[];
    if (!items) merged = before!;
    else if (!before) merged = withoutDirectives(items) as unknown[];
    else merged = strategyOf(field) === "merge" ? mergeSlices(before, items, list) : items;
    sameKind(before ?? [], items ?? []);
    const parts = partition(merged, order as unknown[], list.mergeKey);
    original[key] = inOrder(parts, { order: order as unknown[], serverOrder: before ?? [], mergeKey: list.mergeKey });
    delete patch[key];
  }
}

function listAt(fields: Fields, key: string): unknown[] | undefined {
  if (!Object.hasOwn(fields, key)) return undefined;
  const list = fields[key];
  if (!Array.isArray(list)) throw unfit(`expected a []interface {}, but received a ${goTypeOf(list)}`);
  return list as unknown[];
}

function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const marked = (item: unknown): unknown => (isFields(item) ? item[directive] : undefined);
  const items = patch.filter((item) => marked(item) !== "delete");
  let index = 0;
  for (let place = 0; index < items.length && place < order.length;) {
    if (marked(items[index]) !== undefined) index++;
    else if (identity(items[index], mergeKey) === identity(order[place++], mergeKey)) index++;
  }
  if (index === items.length) return;
  throw unfit(`The order in patch list:\n${goJson(patch)}\n doesn't match ${orderPrefix} list:\n${goJson(order)}\n`);
}

function keyBehind(name: string, prefix: string): string {
  if (name.startsWith(`${prefix}/`)) return name.slice(prefix.length + 1);
  const what = prefix === deletePrefix ? "primitive list" : "setElementOrder list";
  throw badRequest(`invalid patch format of ${what}`);
}

function strategyOf(field: Schema | undefined): string {
  return field?.patchStrategies.find((strategy) => strategy !== "retainKeys") ?? "";
}

function listOf(field: Schema | undefined): MergedList {
  const items = field?.items;
  return {
    mergeKey: field?.patchMergeKey ?? "",
    struct: items?.go?.struct ?? "",
    merge: (original, patch) => mergeFields(original, patch, items),
  };
}

function sameJsonType(a: unknown, b: unknown): boolean {
  return goTypeOf(a) === goTypeOf(b);
}

function discardNulls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) discardNulls(item);
  else if (isFields(value)) {
    for (const [name, field] of Object.entries(value)) {
      if (field === null) delete value[name];
      else discardNulls(field);
    }
  }
}

/** Removes directives; `undefined` when the value is a directive itself. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isFields(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const fields = Object.entries(value).map(([name, field]) => [name, withoutDirectives(field)] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
