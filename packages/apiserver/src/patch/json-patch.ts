/** Applies JSON patches as the server does. @see https://datatracker.ietf.org/doc/html/rfc6902 */
import { badRequest, StatusError } from "../status.ts";
import { goQuoted } from "../field-error.ts";
import { isFloat, isNumber, writeJson } from "../numbers.ts";
import { copied, NumberText } from "../schema/number-text.ts";
import { setField } from "../schema/set-field.ts";

type Container = Record<string, unknown> | unknown[];

const fields = new Set(["op", "path", "from", "value"]);
const mostOperations = 10_000;
/** The largest number of bytes that the copies in one patch may add: each copy may double the object. */
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
    const problem =
      typeof operation === "object" && operation !== null ? apply(root, operation) : "Unexpected kind: unknown";
    if (problem !== undefined) throw new PatchFailure(problem);
  }
  return root.document;
}

/**
 * An operation could not be applied. Clients do not learn why; admission reports the reason in the words of
 * kube-apiserver's library.
 */
export class PatchFailure extends StatusError {
  readonly why: string;

  constructor(why: string) {
    const message = "the server rejected our request due to an error in our request";
    super(422, "Invalid", { message, details: {} });
    this.why = why;
  }

  /** Whether an operation `test` found another value. */
  get isFailedTest(): boolean {
    return this.why.endsWith(": test failed");
  }
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

/** Applies an operation. @returns why that is impossible */
function apply(root: Root, operation: Operation): string | undefined {
  const { op, path, from } = operation;
  const value = copied(operation.value ?? null);
  if (typeof op !== "string" || !kinds.has(op)) return `Unexpected kind: ${typeof op === "string" ? op : "unknown"}`;
  if (typeof path !== "string") return `${op} operation failed to decode path: missing value`;
  switch (op) {
    case "add":
      return add(root, path, value);
    case "remove":
      return remove(root, path);
    case "replace":
      return replace(root, path, value);
    case "test":
      return test(root, path, value);
    default:
      return typeof from === "string"
        ? transfer(root, op, { from, path })
        : `${op} operation failed to decode from: missing value`;
  }
}

const kinds = new Set(["add", "remove", "replace", "test", "move", "copy"]);

function transfer(root: Root, op: string, { from, path }: { from: string; path: string }): string | undefined {
  const source = locate(root, from);
  if (!source) return `${op} operation does not apply: doc is missing from path: ${from}: missing value`;
  const where = op === "move" ? `error in move for path: '${source.key}'` : `error in copy for from: '${from}'`;
  const origin = read(source);
  if (!origin) return `${where}: ${badIndex(source)}`;
  const moved = origin.value ?? null;
  const problem = op === "move" ? removed(source) : undefined;
  if (problem !== undefined) return `${where}: ${problem}`;
  const target = locate(root, path);
  if (!target) return `${op} operation does not apply: doc is missing destination path: ${path}: missing value`;
  if (op === "copy") {
    const size = writeJson(moved).length;
    root.copied += size;
    if (root.copied > mostCopied)
      return `Unable to complete the copy, the accumulated size increase of copy is ${root.copied}, exceeding the limit ${mostCopied}`;
  }
  const refused = added(target, op === "copy" ? copied(moved) : moved);
  if (refused === undefined) return undefined;
  return `${op === "move" ? `error in move for path: '${path}'` : "error while adding value during copy"}: ${refused}`;
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

/** Reads a location; `undefined` when a list has no such item. A missing field of an object reads as null. */
function read({ container, key }: Location): { readonly value: unknown } | undefined {
  if (!Array.isArray(container)) return { value: Object.hasOwn(container, key) ? container[key] : undefined };
  const index = indexOf(key, container.length);
  return index === undefined ? undefined : { value: container[index] };
}

/** Explains why a key is not the index of an existing item. */
function badIndex({ container, key }: Location): string {
  if (!/^[+-]?\d+$/.test(key)) return `strconv.Atoi: parsing ${goQuoted(key)}: invalid syntax`;
  const index = Number(key) < 0 ? Number(key) + (container as unknown[]).length : Number(key);
  return `Unable to access invalid index: ${Number(key) < 0 ? index : Number(key)}: invalid index referenced`;
}

function add(root: Root, path: string, value: unknown): string | undefined {
  const location = locate(root, path);
  if (!location) return `add operation does not apply: doc is missing path: ${goQuoted(path)}: missing value`;
  const problem = added(location, value);
  return problem === undefined ? undefined : `error in add for path: '${path}': ${problem}`;
}

function added({ container, key }: Location, value: unknown): string | undefined {
  if (!Array.isArray(container)) {
    setField(container, key, value);
    return undefined;
  }
  const index = key === "-" ? container.length : indexOf(key, container.length + 1);
  if (index !== undefined) {
    container.splice(index, 0, value);
    return undefined;
  }
  const isNumeric = /^[+-]?\d+$/.test(key);
  return isNumeric
    ? badIndex({ container, key })
    : `value was not a proper array index: '${key}': ${badIndex({ container, key })}`;
}

function remove(root: Root, path: string): string | undefined {
  const location = locate(root, path);
  if (!location) return `remove operation does not apply: doc is missing path: ${goQuoted(path)}: missing value`;
  const problem = removed(location);
  return problem === undefined ? undefined : `error in remove for path: '${path}': ${problem}`;
}

function removed({ container, key }: Location): string | undefined {
  if (!Array.isArray(container)) {
    if (!Object.hasOwn(container, key)) return `Unable to remove nonexistent key: ${key}: missing value`;
    delete container[key];
    return undefined;
  }
  const index = indexOf(key, container.length);
  if (index === undefined) return badIndex({ container, key });
  container.splice(index, 1);
  return undefined;
}

function replace(root: Root, path: string, value: unknown): string | undefined {
  if (path === "") {
    if (typeof value !== "object" || value === null) return "replace operation hit root with no container";
    root.document = value as Container;
    return undefined;
  }
  const location = locate(root, path);
  if (!location) return `replace operation does not apply: doc is missing path: ${path}: missing value`;
  if (!read(location)) return `replace operation does not apply: doc is missing key: ${path}: missing value`;
  const { container, key } = location;
  if (Array.isArray(container)) container[indexOf(key, container.length)!] = value;
  else setField(container, key, value);
  return undefined;
}

function test(root: Root, path: string, value: unknown): string | undefined {
  const failure = `testing value ${path} failed: test failed`;
  if (path === "") return isSpelledAlike(root.document, value) ? undefined : failure;
  const location = locate(root, path);
  if (!location) return `test operation does not apply: is missing path: ${path}: missing value`;
  const current = read(location);
  if (!current) return `error in test for path: '${path}': ${badIndex(location)}`;
  return isSpelledAlike(current.value ?? null, value) ? undefined : failure;
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
