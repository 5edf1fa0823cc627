/** Decodes request bodies in JSON, YAML or protobuf to an object of the kind that the path takes. */
import { hasUnusualNumbers, isNumber, parseAsGo } from "../numbers.ts";
import type { Fields, GroupVersionKind, KubeObject } from "../hooks.ts";
import { decodeProtobuf, hasProtobuf } from "../protobuf/decode.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { decodeKubeObject } from "../schema/kube-object.ts";
import { isEndless, NumberText, parseWithNumberTexts } from "../schema/number-text.ts";
import type { Schema } from "../schema/schema.ts";
import { badRequest, StatusError } from "../status.ts";
import { builtInSchema } from "../tables/tables.ts";
import { depthProblem, duplicateFields } from "./json-text.ts";
import { decodeYaml } from "./yaml.ts";

/** The largest body that etcd accepts, with the server's own margin. */
export const largestBody: number = 3 * 1024 * 1024;

export interface BodyText {
  readonly text: string;
  /** Decodes the bytes of a body that is not text. @throws StatusError 400 */
  readonly decodeBytes?: () => Fields;
  /** The origin of the object: JSON text, or values that are parsed already. @default "json" */
  readonly from?: "json" | "value";
  readonly type: string;
}

/** The kind that the body of a request has. */
export interface BodyKind extends GroupVersionKind {
  readonly custom: boolean;
}

const known = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/** Reads the body of a request for a kind. @throws StatusError 413 or 415 */
export async function readBody(request: Request, row: BodyKind): Promise<BodyText> {
  const type = checkedMediaType(request);
  const bytes = await bodyBytes(request);
  if (type === "application/vnd.kubernetes.protobuf") {
    if (row.custom || !hasProtobuf(row)) throw unsupportedMediaType(known.slice(0, 2));
    const decodeBytes = (): Fields => {
      if (!isProtobuf(bytes)) throw unrecognized(row.kind, "it is not in the protobuf encoding of Kubernetes");
      return decodeProtobuf(bytes, builtInSchema);
    };
    return { text: "", decodeBytes, type };
  }
  return { text: decodeText(bytes), type };
}

function isProtobuf(bytes: Uint8Array): boolean {
  return bytes[0] === 107 && bytes[1] === 56 && bytes[2] === 115 && bytes[3] === 0;
}

function mediaType(request: Request): string {
  return (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Returns the media type of a body, whose parameters must be well-formed too. @throws StatusError 415 */
export function checkedMediaType(request: Request): string {
  const type = mediaType(request);
  if (type === "" && (request.headers.get("content-type") ?? "") === "") return type;
  const [, ...parameters] = (request.headers.get("content-type") ?? "").split(";");
  // A trailing semicolon is allowed.
  while (parameters.length > 0 && parameters.at(-1)?.trim() === "") parameters.pop();
  const names = parameters.map(
    (text) => /^\s*([!#$%&'*+.^_`|~\w-]+)=("[^"]*"|[!#$%&'*+.^_`|~\w-]+)\s*$/.exec(text)?.[1],
  );
  const isWhole = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  if (!isWhole || !known.includes(type)) throw unsupportedMediaType(known);
  return type;
}

/** Checks that a route takes the media type of a request, even if there is no body. @throws StatusError 415 */
export function checkConsumed(request: Request, types: ReadonlySet<string>): void {
  const sent = request.headers.get("content-type") ?? "";
  if (sent === "" || sent.split(",").some((type) => types.has(type.split(";", 1)[0]!.trim()))) return;
  throw new StatusError(415, "UnsupportedMediaType", { message: "415: Unsupported Media Type", details: {} });
}

/** Reads the bytes. @throws StatusError 413, also when the listener has cut off a much too large body. */
export async function bodyBytes(request: Request): Promise<Uint8Array> {
  const bytes = await request.bytes().catch((error: unknown) => {
    throw String(error).includes("maxRequestBodySize") ? tooLarge() : error;
  });
  if (bytes.length > largestBody) throw tooLarge();
  return bytes;
}

function tooLarge(): StatusError {
  const message = `Request entity too large: limit is ${largestBody}`;
  return new StatusError(413, "RequestEntityTooLarge", { message });
}

export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

export function unsupportedMediaType(types: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${types.join(", ")}`;
  return new StatusError(415, "UnsupportedMediaType", { message });
}

interface DecodeOptions {
  readonly row: BodyKind;
  readonly schema: Schema | undefined;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Older versions of the same kind, which are decoded as this one. @default none */
  readonly alsoFrom?: readonly string[];
  readonly warn: (message: string) => void;
  /** Called when the body has empty lists or maps. */
  readonly noteEmpty?: () => void;
  /** Called when a custom object may have floats without a fraction. */
  readonly noteNumbers?: () => void;
}

/** Decodes a body to an object of the expected kind: typed, pruned and defaulted. @throws StatusError 400 */
export function decodeObject(body: BodyText, options: DecodeOptions): KubeObject {
  const { row, alsoFrom = [] } = options;
  const value = body.decodeBytes === undefined ? (parsed(body, options) ?? {}) : body.decodeBytes();
  if (typeof value !== "object" || value === null || Array.isArray(value) || isNumber(value))
    throw unrecognized(row.kind, `it is a JSON ${jsonType(value)}`);
  const fields = value as Fields;
  const expected = row.group === "" ? row.version : `${row.group}/${row.version}`;
  for (const name of ["kind", "apiVersion"] as const) {
    const field = fields[name];
    if (field === undefined || field === null || field === "") {
      if (row.custom && name === "kind") throw unrecognized(row.kind, "Object 'Kind' is missing");
      if (row.custom) throw otherVersion("", expected);
      fields[name] = name === "kind" ? row.kind : expected;
    } else if (typeof field !== "string") {
      throw unrecognized(row.kind, `${name} is a JSON ${jsonType(field)}`);
    }
  }
  const object = fields as KubeObject;
  // An empty group name means the core group.
  if (!row.custom && object.apiVersion === `/${expected}`) object.apiVersion = expected;
  if (!row.custom && object.kind !== row.kind) throw cannotDecode(row, otherKind(object));
  const { version } = groupVersionOf(object.apiVersion);
  const isOlder = alsoFrom.includes(object.apiVersion);
  if (isOlder) object.apiVersion = expected;
  if (object.apiVersion !== expected) throw otherVersion(object.apiVersion, expected);
  const decoded = typed(object, body, options.schema);
  if (decoded.hasEmpty) options.noteEmpty?.();
  const result = row.custom ? decoded : { ...decoded, strict: inOrderOfText(decoded.strict, body) };
  return checkedTyped(result, isOlder ? { ...options, row: { ...row, version } } : options);
}

export interface Typed {
  readonly object: KubeObject;
  /** Why it cannot be decoded. */
  readonly error: string | undefined;
  /** The findings of strict decoding: unknown and duplicate fields. */
  readonly strict: readonly string[];
  readonly hasEmpty: boolean;
}

/** Checks types, drops unknown fields and adds defaults. */
export function typed(object: KubeObject, body: BodyText, schema: Schema | undefined): Typed {
  if (schema === undefined)
    return { object: { ...object, metadata: object.metadata ?? {} }, error: undefined, strict: [], hasEmpty: false };
  const { object: decoded, error, unknown, hasEmpty } = decodeKubeObject(schema, object, body.from);
  if (error !== undefined) return { object, error, strict: [], hasEmpty };
  decoded.metadata ??= {};
  // Decoding drops empty lists, but an empty list of managed fields is a request to remove all managers.
  if (object.metadata?.managedFields?.length === 0) decoded.metadata.managedFields = [];
  applyDefaults(schema, decoded);
  return {
    object: decoded,
    error: undefined,
    // The fields of YAML are sorted before they are decoded.
    strict: [...repeatedFields(body), ...(body.type === "application/yaml" ? unknown.toSorted() : unknown)],
    hasEmpty,
  };
}

/** What decoding into Go's structs finds comes in the order of the text; for a custom object, duplicate fields come first. */
function inOrderOfText(findings: readonly string[], { text, type }: BodyText): readonly string[] {
  if (findings.length < 2 || type === "application/yaml" || text === "") return findings;
  const places = new Map<string, number>();
  duplicateFields(text, (path, isRepeated) => {
    const finding = `${isRepeated ? "duplicate" : "unknown"} field ${JSON.stringify(path)}`;
    if (!places.has(finding)) places.set(finding, places.size);
  });
  const placeOf = (finding: string): number => places.get(finding) ?? places.size;
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Returns the errors of strict decoding for fields that occur twice in the text. */
function repeatedFields({ text, type }: BodyText): readonly string[] {
  if (type === "application/yaml") return decodeYaml(text).repeated;
  return text === "" ? [] : duplicateFields(text).map((path) => `duplicate field ${JSON.stringify(path)}`);
}

/** Returns the decoded object. @throws StatusError 400 that describes its mistakes */
function checkedTyped(result: Typed, { row, fieldValidation, warn }: DecodeOptions): KubeObject {
  if (result.error !== undefined) throw cannotDecode(row, result.error);
  if (fieldValidation === "Ignore") return result.object;
  if (result.strict.length > 0 && fieldValidation === "Strict")
    throw cannotDecode(row, `strict decoding error: ${result.strict.join(", ")}`);
  for (const problem of result.strict) warn(problem);
  return result.object;
}

function cannotDecode({ kind, version }: DecodeOptions["row"], why: string): StatusError {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`);
}

function parsed({ text, type }: BodyText, { row: { kind, custom }, noteNumbers }: DecodeOptions): unknown {
  try {
    if (type === "application/yaml") return decodeYaml(text).value;
    const problem = depthProblem(text);
    if (problem !== undefined) throw new SyntaxError(problem);
    if (custom && isEndless(text)) throw new SyntaxError("a number exceeds the range of a float64");
    if (!hasUnusualNumbers(text)) return parsedJson(text);
    if (!custom) return parseWithNumberTexts(text);
    noteNumbers?.();
    return parseAsGo(text);
  } catch (error) {
    throw unrecognized(kind, (error as Error).message);
  }
}

/** Parses JSON, and replaces unpaired surrogates as Go does. */
export function parsedJson(text: string): unknown {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));
}

function unrecognized(kind: string, why: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);
}

function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

/** Says that an object is of a kind or a version that the path does not take. */
export function otherKind({ kind, apiVersion }: Pick<KubeObject, "kind" | "apiVersion">): string {
  return `the object is a ${kind} of ${apiVersion}`;
}

function otherVersion(version: string, expected: string): StatusError {
  return badRequest(`the API version in the data (${version}) does not match the expected API version (${expected})`);
}

/** Names the type of a JSON value. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return value instanceof NumberText || isNumber(value) ? "number" : typeof value;
}
