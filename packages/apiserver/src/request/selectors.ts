/** Parses the selectors of a request. */
import { isNumber } from "../numbers.ts";
import { goQuoted } from "../field-error.ts";
import type { KubeObject } from "../hooks.ts";
import type { Resource } from "../registry/resource.ts";
import { badRequest } from "../status.ts";
import { parseLabels } from "./label-selector.ts";

type Test = (object: KubeObject) => boolean;

export interface Selection {
  /** Tests an object; `undefined` when every object is selected. */
  readonly test: Test | undefined;
  /** The single name that `metadata.name=…` selects. */
  readonly name: string | undefined;
}

/** Parses the selectors. @throws StatusError 400 when one is invalid or names a field that the kind does not offer. */
export function selection(
  resource: Resource,
  { labelSelector, fieldSelector }: { readonly labelSelector: string; readonly fieldSelector: string },
): Selection {
  const tests: Test[] = [];
  const labels = labelSelector === "" ? undefined : parseLabels(labelSelector);
  if (labels !== undefined) tests.push(({ metadata }) => labels(metadata.labels));
  let name: string | undefined;
  for (const { field, equal, value } of terms(fieldSelector)) {
    const read = reader(resource, field);
    tests.push((object) => (read(object) === value) === equal);
    if (field === "metadata.name" && equal) name = value;
  }
  const [first, ...others] = tests;
  if (first === undefined) return { test: undefined, name };
  if (others.length === 0) return { test: first, name };
  return { test: (object) => tests.every((one) => one(object)), name };
}

interface Term {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

function terms(selector: string): Term[] {
  const list: Term[] = [];
  for (const part of selector.match(/(?:\\.|[^\\,]|\\$)+/gs) ?? []) {
    if (part.trim() === "") continue;
    const operator = /!=|==|=/.exec(part);
    if (operator === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${part}'`);
    const field = part.slice(0, operator.index);
    const value = unescaped(part.slice(operator.index + operator[0].length));
    if (field === "" && value === "") continue; // this selects everything
    list.push({ field, equal: operator[0] !== "!=", value });
  }
  return list;
}

function unescaped(value: string): string {
  const wrong = /\\([^\\,=])/.exec(value);
  if (wrong !== null) throw badRequest(`invalid field selector: invalid escape sequence: \\${wrong[1] ?? ""}`);
  if (/(?<!\\)(?:\\\\)*\\$/.test(value)) throw badRequest("invalid field selector: invalid escape sequence: \\");
  const bare = /(?<!\\)(?:\\\\)*([=])/.exec(value);
  if (bare !== null)
    throw badRequest(`invalid field selector: unescaped character in value: ${(bare[1] ?? "").charCodeAt(0)}`);
  return value.replace(/\\([\\,=])/g, "$1");
}

function reader(resource: Resource, field: string): (object: KubeObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace" && (resource.row.namespaced || !resource.row.custom))
    return ({ metadata }) => metadata.namespace ?? "";
  const { selectableFields } = resource.behaviour;
  const known =
    selectableFields !== undefined && Object.hasOwn(selectableFields, field) ? selectableFields[field] : undefined;
  if (known !== undefined) return known;
  if (resource.row.custom) {
    if (!resource.selectablePaths.includes(`.${field}`)) throw badRequest(`field label not supported: ${field}`);
    const path = field.split(".");
    return (object) => textAt(object, path);
  }
  const { group, kind } = resource.row;
  if (kind === "Job") throw badRequest(`field label ${goQuoted(field)} not supported for Job`);
  if (selectableFields === undefined || group === "apps")
    throw badRequest(`${goQuoted(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
  throw badRequest(`field label not supported: ${field}`);
}

function textAt(object: unknown, path: readonly string[]): string {
  let value = object;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return "";
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return typeof value === "string" ? value : isNumber(value) || typeof value === "boolean" ? String(value) : "";
}
