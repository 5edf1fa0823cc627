/** Decodes request bodies in JSON, YAML or protobuf to an object of the kind that the path takes. */
import { hasUnusualNumbers, isNumber, parseAsGo } from "../numbers.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import type { Schemas, SchemaHandle } from "../machinery.ts";
import { internalType } from "../registry/internal-type.ts";
import { isRegistered } from "../registry/registered-kinds.ts";
import { endlessNumber, NumberText, parseWithNumberTexts } from "../schema/number-text.ts";
import { badRequest, StatusError } from "../status.ts";
import { depthProblem, jsonProblem } from "./json-problem.ts";
import { duplicateFields, findingsInOrder } from "./strict-json.ts";
import { decodeYaml } from "../yaml/decode-yaml.ts";
import { YamlError } from "../yaml/cursor.ts";

/** The largest body that etcd accepts, with the server's own margin. */
export const largestBody: number = 3 * 1024 * 1024;

type ProtobufDecoder = (bytes: Uint8Array) => Fields;

export interface BodyText {
  readonly text: string;
  /** Decodes the bytes, where there is no text. @throws StatusError 400 */
  readonly decodeBytes?: () => Fields;
  /** Where the object comes from. @default "json" */
  readonly from?: "json" | "value";
  readonly type: string;
  /** Whether the text is looked through for repeated fields before anything is decoded. @default false */
  readonly repeatedFirst?: boolean;
  /** The bytes as they arrived, for messages that quote an invalid text. */
  readonly bytes?: Uint8Array;
}

const known = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/** Reads a body. @throws StatusError 413 or 415. */
export async function readBody(
  request: Request,
  { protobuf, kind }: { readonly protobuf: ProtobufDecoder | undefined; readonly kind: string },
): Promise<BodyText> {
  const type = checkedMediaType(request);
  const bytes = await bodyBytes(request);
  if (type === "application/vnd.kubernetes.protobuf") {
    if (protobuf === undefined) throw unsupportedMediaType(known.slice(0, 2));
    const decodeBytes = (): Fields => {
      if (bytes.length === 0) throw unrecognized(kind, "empty data", { text: "", bytes });
      if (!isProtobuf(bytes)) throw unrecognized(kind, notProtobuf, { text: "", bytes });
      return protobuf(bytes);
    };
    return { text: "", decodeBytes, type, bytes };
  }
  return { text: decodeText(bytes), type, bytes };
}

const notProtobuf = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";

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
  readonly row: { readonly kind: string; readonly group: string; readonly version: string; readonly custom: boolean };
  readonly schema: SchemaHandle | undefined;
  readonly schemas: Schemas;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Older versions of the same kind that are decoded as this one. @default none */
  readonly alsoFrom?: readonly string[];
  /** Returns the schema of another version of a custom kind. @default none */
  readonly otherSchema?: ((version: string) => SchemaHandle) | undefined;
  readonly warn: (message: string) => void;
  /** Called when there are empty lists or maps. */
  readonly noteEmpty?: () => void;
  /** Called when a custom object may have floats without a fraction. */
  readonly noteNumbers?: () => void;
}

/**
 * Decodes a body to an object of the expected kind: typed, pruned and defaulted.
 *
 * @throws StatusError 400 in the server's words.
 */
export function decodeObject(body: BodyText, options: DecodeOptions): KubeObject {
  const { row } = options;
  const value = body.decodeBytes === undefined ? (parsed(body, options) ?? {}) : body.decodeBytes();
  if (typeof value !== "object" || value === null || Array.isArray(value) || isNumber(value))
    throw unrecognized(row.kind, notAnObject(value), body);
  const fields = value as Fields;
  const expected = row.group === "" ? row.version : `${row.group}/${row.version}`;
  for (const name of ["kind", "apiVersion"] as const) {
    const given = fields[name];
    if (given === undefined || given === null || given === "") {
      if (row.custom && name === "kind") throw missing(name, row.kind, body);
      if (row.custom) throw otherVersion("", expected);
      fields[name] = name === "kind" ? row.kind : expected;
    } else if (typeof given !== "string") {
      throw unrecognized(
        row.kind,
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(given)} into Go struct field .${name} of type string`,
        body,
      );
    }
  }
  const object = fields as KubeObject;
  // An empty group name means the core group.
  if (!row.custom && object.apiVersion === `/${expected}`) object.apiVersion = expected;
  if (!row.custom && /^[^/]+\/$/.test(object.apiVersion)) throw noVersion(object, row, body);
  if (!row.custom && object.apiVersion.split("/").length > 2)
    throw unrecognized(row.kind, `unexpected GroupVersion string: ${object.apiVersion}`, body);
  const { version } = groupVersionOf(object.apiVersion);
  const isOlder = options.alsoFrom?.includes(object.apiVersion) === true;
  if (!row.custom && (object.kind !== row.kind || !(isOlder || isServed(object, options))))
    throw otherKind(object, options);
  if (isOlder) object.apiVersion = expected;
  if (object.apiVersion !== expected) {
    checkAsOther(object, body, options);
    throw otherVersion(object.apiVersion, expected);
  }
  const result = typed(object, row.custom ? { ...body, repeatedFirst: true } : body, options);
  if (result.hasEmpty) options.noteEmpty?.();
  return checkedTyped(result, isOlder ? { ...options, row: { ...row, version } } : options);
}

/** Reports the unknown fields of a custom object in the version that it says, before that version is refused. */
function checkAsOther(object: KubeObject, body: BodyText, options: DecodeOptions): void {
  const { row, schemas, otherSchema } = options;
  const { group, version } = groupVersionOf(object.apiVersion);
  if (!row.custom || group !== row.group || object.kind !== row.kind || otherSchema === undefined) return;
  const decoded = typed(object, { ...body, repeatedFirst: true }, { schema: otherSchema(version), schemas });
  checkedTyped(decoded, { ...options, row: { ...row, version } });
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
export function typed(object: KubeObject, body: BodyText, options: Pick<DecodeOptions, "schema" | "schemas">): Typed {
  const { schema, schemas } = options;
  if (schema === undefined)
    return { object: { ...object, metadata: object.metadata ?? {} }, error: undefined, strict: [], hasEmpty: false };
  const { object: decoded, error, unknown, hasEmpty } = schemas.decode(schema, object, body.from ?? "json");
  if (error !== undefined) return { object, error, strict: [], hasEmpty };
  const isJson = body.type !== "application/yaml" && body.text !== "";
  const twice = isJson ? duplicateFields(body.text).map((path) => `duplicate field ${JSON.stringify(path)}`) : [];
  decoded.metadata ??= {};
  // Decoding drops empty lists, but this one says that nobody manages anything any more.
  if (object.metadata?.managedFields?.length === 0) decoded.metadata.managedFields = [];
  schemas.applyDefaults(schema, decoded);
  return {
    object: decoded,
    error: undefined,
    strict: strictFindings(body, { unknown, twice }),
    hasEmpty,
  };
}

interface Findings {
  readonly unknown: readonly string[];
  readonly twice: readonly string[];
}

/** Puts the findings of strict decoding into the order of the decoder that found them. */
function strictFindings({ text, type, repeatedFirst }: BodyText, { unknown, twice }: Findings): readonly string[] {
  if (type === "application/yaml") {
    // The fields of YAML are sorted before they are decoded.
    const { repeated } = decodeYaml(text);
    return [...(repeated === undefined ? [] : [repeated]), ...unknown.toSorted()];
  }
  if (twice.length === 0) return unknown;
  return repeatedFirst === true || unknown.length === 0 ? [...twice, ...unknown] : findingsInOrder(text, unknown);
}

/** Returns the object, or throws the 400 that says what is wrong with it. */
function checkedTyped(result: Typed, { row, fieldValidation, warn }: DecodeOptions): KubeObject {
  const cannot = `${row.kind} in version ${JSON.stringify(row.version)} cannot be handled as a ${row.kind}`;
  if (result.error !== undefined) throw badRequest(`${cannot}: ${result.error}`);
  if (fieldValidation === "Ignore") return result.object;
  if (result.strict.length > 0 && fieldValidation === "Strict") {
    throw badRequest(`${cannot}: strict decoding error: ${result.strict.join(", ")}`);
  }
  for (const problem of result.strict.flatMap(strictWarnings)) warn(problem);
  return result.object;
}

/** Returns the findings of strict decoding as separate warnings. */
export function strictWarnings(problem: string): string[] {
  const found = problem.indexOf("yaml: unmarshal errors:\n");
  if (found < 0) return [problem];
  return problem
    .slice(found)
    .split("\n")
    .slice(1)
    .map((line) => line.trim());
}

/** Refuses numbers that exceed the range of a float64. @throws StatusError 400 */
function checkNumbers(text: string, { kind, version }: { readonly kind: string; readonly version: string }): void {
  if (!/\d[eE]\+?\d{3}/.test(text)) return;
  const found = endlessNumber(text);
  if (found === undefined) return;
  const why = `json: cannot unmarshal number ${found} into Go value of type float64`;
  throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`);
}

function parsed(body: BodyText, { row: { kind, version, custom }, noteNumbers }: DecodeOptions): unknown {
  try {
    if (body.type === "application/yaml") return decodeYaml(body.text).value;
    const deep = depthProblem(body.text);
    if (deep !== undefined) throw unrecognized(kind, `couldn't get version/kind; json parse error: ${deep}`, body);
    if (custom) checkNumbers(body.text, { kind, version });
    if (!hasUnusualNumbers(body.text)) return parsedJson(body.text);
    if (!custom) return parseWithNumberTexts(body.text);
    noteNumbers?.();
    return parseAsGo(body.text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    if (error instanceof YamlError) throw unrecognized(kind, error.message, body);
    const why = jsonProblem(body.text) ?? "exceeded max depth";
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${why}`, body);
  }
}

/** Replaces unpaired surrogates, as Go does. */
export function parsedJson(text: string): unknown {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));
}

function unrecognized(kind: string, why: string, body: Pick<BodyText, "text" | "bytes">): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(body)})`);
}

/** Returns the first bytes of a body, as messages quote them. */
function summary({ text, bytes = Buffer.from(text) }: Pick<BodyText, "text" | "bytes">): string {
  if (bytes.length === 0) return "<empty>";
  const shown = bytes[0] === 0x7b ? decodeText(bytes) : Buffer.from(bytes).toString("hex");
  const length = bytes[0] === 0x7b ? 30 : 60;
  return shown.length > length ? `${shown.slice(0, length)} ...` : shown;
}

/** Returns the error for an apiVersion that has a group and no version. */
function noVersion({ kind }: KubeObject, row: DecodeOptions["row"], body: BodyText): StatusError {
  const why = `Object 'apiVersion' is missing in '${body.text}'`;
  return badRequest(`${kind} in version "" cannot be handled as a ${row.kind}: ${why}`);
}

function missing(name: "apiVersion" | "kind", kind: string, body: BodyText): StatusError {
  const what = name === "kind" ? "Kind" : "apiVersion";
  return unrecognized(kind, `Object '${what}' is missing in '${body.text}'`, body);
}

/** Whether the server can decode the kind in this version, although another path, or none, takes it. */
function isServed({ kind, apiVersion }: KubeObject, { row, schemas }: Pick<DecodeOptions, "row" | "schemas">): boolean {
  const { group, version } = groupVersionOf(apiVersion);
  if (group === row.group && version === row.version) return true;
  return isRegistered({ group, version, kind }, (one) => schemas.builtIn(one) !== undefined);
}

export function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

/** Makes the error for a kind or version that the path does not take, known to the server or not. */
function otherKind(object: KubeObject, { row, schemas }: DecodeOptions): StatusError {
  const { kind, apiVersion } = object;
  const { group, version } = groupVersionOf(apiVersion);
  const schema = schemas.builtIn({ group, version, kind });
  // It is decoded as what it says it is before anybody wants to convert it.
  const error = schema && schemas.decode(schema, object, "json").error;
  const why = error ?? whyOther({ kind, apiVersion }, { row, schemas });
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${row.kind}: ${why}`);
}

/** Explains why an object of another kind or version does not fit the row, in the words of a failed conversion. */
export function whyOther(
  { kind, apiVersion }: Pick<KubeObject, "kind" | "apiVersion">,
  { row, schemas }: Pick<DecodeOptions, "row" | "schemas">,
): string {
  const { group, version } = groupVersionOf(apiVersion);
  const isKnown = isRegistered({ group, version, kind }, (one) => schemas.builtIn(one) !== undefined);
  // Options belong to one package, whatever the group.
  const shown = kind.endsWith("Options") || kind === "WatchEvent" ? "v1" : version;
  return isKnown
    ? `converting (${shown}.${kind}) to (${internalType(row)}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

function otherVersion(given: string, expected: string): StatusError {
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);
}

/** Explains that a JSON body is not an object. */
export function notAnObject(value: unknown): string {
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

/** Returns Go's name for the type of a JSON value. */
export function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  if (value instanceof NumberText || isNumber(value)) return "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}
