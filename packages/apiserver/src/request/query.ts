/** Parses and checks the options of a query as the server does. */
import { printable } from "../validation/formats.ts";
import { type FieldError, goQuoted, notSupported } from "../field-error.ts";
import { badRequest, invalid, StatusError } from "../status.ts";

export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continue: string;
  /** Whether the server reads in pages even without a limit, as deletions of collections do. @default false */
  readonly isPaged?: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

export interface WriteOptions {
  readonly dryRun: boolean;
  /** The field manager; `""` when not given. */
  readonly fieldManager: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  readonly force: boolean;
}

/** Parses the options of lists and watches. @throws StatusError 400 or 422. */
export function listOptions(query: URLSearchParams): ListOptions {
  const options = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    watch: boolean(query.get("watch")) ?? false,
    allowWatchBookmarks: boolean(query.get("allowWatchBookmarks")) ?? false,
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds: integer(query.get("timeoutSeconds")),
    limit: integer(query.get("limit")) ?? 0,
    continue: query.get("continue") ?? "",
    sendInitialEvents: boolean(query.get("sendInitialEvents")),
  };
  const errors = options.watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", { errors });
  return options;
}

/** Refuses the option `export`, which reads no longer have. @throws StatusError 400 */
export function checkExport(query: URLSearchParams): void {
  if (boolean(query.get("export")) === true)
    throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const field = "resourceVersionMatch";
  const { resourceVersionMatch: match, resourceVersion } = options;
  if (match !== "") {
    if (resourceVersion === "")
      errors.push(refused(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (options.continue !== "")
      errors.push(refused(field, "resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan")
      errors.push(notSupported(field, match, { valid: ["Exact", "NotOlderThan", ""] }));
    if (match === "Exact" && resourceVersion === "0")
      errors.push(refused(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (options.sendInitialEvents !== undefined)
    errors.push(refused("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const field = "resourceVersionMatch";
  const { resourceVersionMatch: match } = options;
  if (options.sendInitialEvents !== undefined && match !== "NotOlderThan")
    errors.push(refused(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (match === "") {
    // A watch with this option counts as a request for initial events, which also sets `resourceVersionMatch`.
    const isDefaulted = options.sendInitialEvents === undefined && ["", "0"].includes(options.resourceVersion);
    if (isDefaulted && options.continue !== "")
      errors.push(refused(field, "resourceVersionMatch is forbidden when continue is provided"));
    return errors;
  }
  if (options.sendInitialEvents === undefined)
    errors.push(refused(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (match !== "NotOlderThan") errors.push(notSupported(field, match, { valid: ["NotOlderThan"] }));
  if (options.continue !== "")
    errors.push(refused(field, "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}

/**
 * Parses the options of create, update and patch.
 *
 * @throws StatusError 400 or 422.
 */
export function writeOptions(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  { isApply = false }: { readonly isApply?: boolean } = {},
): WriteOptions {
  const dryRun = query.getAll("dryRun");
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors = kind === "PatchOptions" ? patchErrors(query, isApply) : [];
  errors.push(...managerErrors(fieldManager), ...dryRunErrors(dryRun));
  if (!["", "Ignore", "Warn", "Strict"].includes(fieldValidation))
    errors.push(notSupported("fieldValidation", fieldValidation, { valid: ["", "Ignore", "Strict", "Warn"] }));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", { errors });
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as "Ignore" | "Warn" | "Strict"),
    force: boolean(query.get("force")) ?? false,
  };
}

function patchErrors(query: URLSearchParams, isApply: boolean): FieldError[] {
  if (!isApply) return query.has("force") ? [refused("force", "may not be specified for non-apply patch")] : [];
  if (query.get("fieldManager")) return [];
  return [{ type: "Required", field: "fieldManager", detail: "is required for apply patch" }];
}

export function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  if (dryRun.every((value) => value === "All")) return [];
  return [notSupported("dryRun", dryRun, { valid: ["All"] })];
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > 128)
    errors.push({ type: "TooLong", field: "fieldManager", detail: "may not be more than 128 bytes" });
  for (const detail of printable(manager))
    errors.push({ type: "Invalid", field: "fieldManager", badValue: manager, detail });
  return errors;
}

function refused(field: string, detail: string): FieldError {
  return { type: "Forbidden", field, detail };
}

/** Parses a flag as the server does: a flag without a value is true. */
function boolean(value: string | null): boolean | undefined {
  if (value === null) return undefined;
  return value !== "0" && value.toLowerCase() !== "false";
}

/** Parses an integer of 64 bits. @throws StatusError 400 */
export function integer(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (!/^[+-]?[0-9]+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${goQuoted(value)}: invalid syntax`);
  const number = BigInt(value.replace(/^\+/, ""));
  if (BigInt.asIntN(64, number) !== number)
    throw badRequest(`strconv.ParseInt: parsing ${goQuoted(value)}: value out of range`);
  return Number(number);
}

/** Parses the resource version of a list; `undefined` for none. @throws StatusError 400 */
export function versionNumber(text: string): number | undefined {
  const problem = versionProblem(text);
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`);
  return text === "" ? undefined : Number(text);
}

/** Parses the resource version of a read or watch, which is first checked by the cache before the storage. @throws StatusError 500 */
export function readVersion(text: string): number | undefined {
  const message = versionProblem(text);
  if (message !== undefined) throw new StatusError(500, "", { message });
  return text === "" ? undefined : Number(text);
}

function versionProblem(text: string): string | undefined {
  if (text === "") return undefined;
  const why = /^[0-9]+$/.test(text) ? (BigInt(text) < 2n ** 64n ? "" : "value out of range") : "invalid syntax";
  if (why === "") return undefined;
  const problem = `strconv.ParseUint: parsing ${goQuoted(text)}: ${why}`;
  return `resourceVersion: Invalid value: ${goQuoted(text)}: ${problem}`;
}
