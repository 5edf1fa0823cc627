/** Validates an applied value against its atom. */
import { isNumber } from "../numbers.ts";
import { goJson } from "../field-error.ts";
import { type Atom, type ListAtom, type MapAtom, type ScalarType, shapeOf } from "./atom.ts";
import { itemElement } from "./list-item.ts";
import { fieldElement, printElement } from "./path-element.ts";
import { asList, asMap } from "./typed-values.ts";

export interface TypeOptions {
  /** Whether an item may be twice in a set or a map, as in objects that are stored. @default false */
  readonly allowDuplicates?: boolean;
}

/** Returns the errors in the words of structured-merge-diff; `undefined` when there are none. */
export function typeErrors(
  value: unknown,
  atom: Atom,
  { allowDuplicates = false }: TypeOptions = {},
): string | undefined {
  const errors: string[] = [];
  check(value, { atom, path: "", errors, allowDuplicates });
  if (errors.length === 0) return undefined;
  return errors.length === 1 ? errors[0] : ["errors:", ...errors.map((error) => `  ${error}`)].join("\n");
}

interface Place {
  readonly atom: Atom;
  readonly path: string;
  readonly errors: string[];
  readonly allowDuplicates: boolean;
}

function check(value: unknown, place: Place): void {
  if (value === null || value === undefined) return;
  const shape = shapeOf(place.atom, value);
  const report = (what: string): void => void place.errors.push(place.path === "" ? what : `${place.path}: ${what}`);
  if (shape === "scalar") {
    const wrong = scalarError(value, place.atom.scalar!);
    if (wrong) report(wrong);
  } else if (shape === "list") {
    const items = asList(value);
    if (items) checkItems(items, { ...place, list: place.atom.list!, report });
    else report(`expected list, got ${goJson(value)}`);
  } else {
    const fields = asMap(value);
    if (fields) checkFields(fields, { ...place, map: place.atom.map!, report });
    else report(`expected map, got ${goJson(value)}`);
  }
}

function scalarError(value: unknown, type: ScalarType): string | undefined {
  if (type === "untyped")
    return typeof value === "object" && !isNumber(value) ? `expected any scalar, got ${goJson(value)}` : undefined;
  if (type === "numeric") {
    return isNumber(value) ? undefined : `expected numeric (int or float), got ${typeName(value)}`;
  }
  return typeof value === type ? undefined : `expected ${type}, got ${goJson(value)}`;
}

interface ItemsPlace extends Place {
  readonly list: ListAtom;
  readonly report: (what: string) => void;
}

function checkItems(items: readonly unknown[], { list, path, errors, allowDuplicates, report }: ItemsPlace): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    let step = `[${index}]`;
    if (list.associative) {
      const element = itemElement(list, item);
      if (typeof element !== "string") return report(`element ${index}: ${element.message}`);
      step = printElement(element);
      if (seen.has(element) && !allowDuplicates) report(`duplicate entries for key ${step}`);
      seen.add(element);
    }
    check(item, { atom: list.element, path: path + step, errors, allowDuplicates });
  }
}

interface FieldsPlace extends Place {
  readonly map: MapAtom;
  readonly report: (what: string) => void;
}

function checkFields(
  fields: Readonly<Record<string, unknown>>,
  { map, path, errors, allowDuplicates }: FieldsPlace,
): void {
  for (const [key, field] of Object.entries(fields)) {
    const inner = path + printElement(fieldElement(key));
    const atom = map.typeOf(key);
    if (!atom) {
      errors.push(`${inner}: field not declared in schema`);
      return;
    }
    check(field, { atom, path: inner, errors, allowDuplicates });
  }
}

/** Names a type as Go's `%T` does. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "map[string]interface {}";
}
