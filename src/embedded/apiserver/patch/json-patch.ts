/** Applies JSON patches as the server does. @see https://datatracker.ietf.org/doc/html/rfc6902 */
import { badRequest, StatusError } from "../status.ts";
import { goQuoted } from "../field-error.ts";
import { isFloat, isNumber, writeJson } from "../numbers.ts";
import { copied, NumberText } from "../schema/number-text.ts";
import { setField } from "../schema/set-field.ts";

type Container = Record<string, unknown> | unknown[];

const fields = new Set(["op", "path", "from", "value"]);
const mostOperations = 10_000;
/** The size of all copies of a patch: each may double the object. */
const mostCopied = 3 * 1024 * 1024;

/**
 * Returns the document with the operations applied; the argument stays as it is.
 *
 * The server is more lenient than the standard: missing members of objects are null, so that they can be tested,
 * replaced and copied, and a negative index counts from the end.
 *
 * @throws StatusError 400 for an invalid patch, 413 for too many operations, 422 when an operation fails
 */
export function jsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    const type = "[]handlers.jsonPatchOp";
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type ${type}`);
  }
  if (patch.length > mostOperations) {
    const message = `Request entity is too large: The allowed maximum operations in a JSON patch is ${mostOperations}, got ${patch.length}`;
    throw new StatusError(413, "RequestEntityTooLarge", { message });
  }
  const root: Root = { document: copied(document) as Container, copied: 0 };
  for (const operation of patch as unknown[]) checkTypes(operation);
  for (const operation of patch as unknown[]) {
    if (typeof operation !== "object" || operation === null || !apply(root, operation)) throw failed();
  }
  return root.document;
}

/** Checks that an operation has the type of Go's struct for it. @throws StatusError 400 */
function checkTypes(operation: unknown): void {
  const cannot = (value: unknown, type: string): StatusError =>
    badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go ${type}`);
  if (operation === null) return;
  if (
    typeof operation !== "object" ||
    Array.isArray(operation) ||
    operation instanceof NumberText ||
    isFloat(operation)
  )
    throw cannot(operation, "value of type handlers.jsonPatchOp");
  for (const name of ["op", "path", "from"] as const) {
    const value = (operation as Operation)[name];
    if (value !== undefined && value !== null && typeof value !== "string")
      throw cannot(value, `struct field jsonPatchOp.${name} of type string`);
  }
}

/** Returns unknown fields of the operations, as strict decoding names them. */
export function jsonPatchStrictErrors(patch: unknown): string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation: unknown, index) =>
    Object.keys(operation ?? {})
      .filter((name) => !fields.has(name))
      .map((name) => `json patch unknown field ${goQuoted(`[${index}].${name}`)}`),
  );
}

export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value instanceof NumberText || isNumber(value)) return "number";
  return value === null ? "null" : typeof value === "boolean" ? "bool" : typeof value;
}

function failed(): StatusError {
  const message = "the server rejected our request due to an error in our request";
  return new StatusError(422, "Invalid", { message, details: {} });
}

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

interface Root {
  document: Container;
  /** The characters of JSON that were copied. */
  copied: number;
}

/** Applies an operation. @returns whether that was possible */
function apply(root: Root, operation: Operation): boolean {
  const { op, path, from } = operation;
  const value = copied(operation.value ?? null);
  if (typeof path !== "string") return false;
  switch (op) {
    case "add":
      return add(root, path, value);
    case "remove":
      return remove(root, path);
    case "replace":
      return replace(root, path, value);
    case "test":
      return test(root, path, value);
    case "move":
    case "copy": {
      const source = typeof from === "string" ? locate(root, from) : undefined;
      const found = source && read(source);
      if (!source || !found || (op === "move" && !remove(root, from as string))) return false;
      const moved = found.value ?? null;
      if (op === "move") return add(root, path, moved);
      root.copied += writeJson(moved).length;
      return root.copied <= mostCopied && add(root, path, copied(moved));
    }
    default:
      return false;
  }
}

interface Location {
  readonly container: Container;
  readonly key: string;
}

function locate({ document }: Root, path: string): Location | undefined {
  const keys = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keys.length < 2) return undefined;
  let container = document;
  for (const key of keys.slice(1, -1)) {
    const next = read({ container, key })?.value;
    if (typeof next !== "object" || next === null || next instanceof NumberText || isFloat(next)) return undefined;
    container = next as Container;
  }
  return { container, key: keys.at(-1)! };
}

function indexOf(key: string, length: number): number | undefined {
  if (!/^[+-]?\d+$/.test(key)) return undefined;
  const index = Number(key);
  const counted = index < 0 ? index + length : index;
  return counted >= 0 && counted < length ? counted : undefined;
}

/** Reads a location; `undefined` when there is no such item. Members of objects always exist. */
function read({ container, key }: Location): { readonly value: unknown } | undefined {
  if (!Array.isArray(container)) return { value: Object.hasOwn(container, key) ? container[key] : undefined };
  const index = indexOf(key, container.length);
  return index === undefined ? undefined : { value: container[index] };
}

function add(root: Root, path: string, value: unknown): boolean {
  const location = locate(root, path);
  if (!location) return false;
  const { container, key } = location;
  if (!Array.isArray(container)) {
    setField(container, key, value);
    return true;
  }
  const index = key === "-" ? container.length : indexOf(key, container.length + 1);
  if (index === undefined) return false;
  container.splice(index, 0, value);
  return true;
}

function remove(root: Root, path: string): boolean {
  const location = locate(root, path);
  if (!location) return false;
  const { container, key } = location;
  if (!Array.isArray(container)) return Object.hasOwn(container, key) && delete container[key];
  const index = indexOf(key, container.length);
  if (index === undefined) return false;
  container.splice(index, 1);
  return true;
}

function replace(root: Root, path: string, value: unknown): boolean {
  if (path === "") {
    if (typeof value !== "object" || value === null) return false;
    root.document = value as Container;
    return true;
  }
  const location = locate(root, path);
  if (!location || !read(location)) return false;
  const { container, key } = location;
  if (!Array.isArray(container)) {
    setField(container, key, value);
    return true;
  }
  container[indexOf(key, container.length)!] = value;
  return true;
}

function test(root: Root, path: string, value: unknown): boolean {
  if (path === "") return isSpelledAlike(root.document, value);
  const location = locate(root, path);
  const found = location && read(location);
  return found !== undefined && isSpelledAlike(found.value ?? null, value);
}

/** Whether two values are equal as JSON text, in which `1.0` is not `1`; the order of fields does not count. */
function isSpelledAlike(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isSpelled(a) || isSpelled(b)) return isSpelled(a) && isSpelled(b) && writeJson(a) === writeJson(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isSpelledAlike(item, b[index]));
  }
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isSpelledAlike(left[key], right[key]));
}

function isSpelled(value: unknown): boolean {
  return value instanceof NumberText || isNumber(value);
}
