/** Parses the options of deletions. */
import { type FieldError, notSupported } from "../field-error.ts";
import { hasUnusualNumbers } from "../numbers.ts";
import type { Fields } from "../hooks.ts";
import { bodyBytes, decodeText, checkedMediaType, goKind, notAnObject, unsupportedMediaType } from "../request/body.ts";
import { jsonProblem } from "../request/json-problem.ts";
import { dryRunErrors, integer } from "../request/query.ts";
import { isInt64, NumberText, parseWithNumberTexts } from "../schema/number-text.ts";
import { decodeYaml } from "../yaml/decode-yaml.ts";
import { badRequest, invalid } from "../status.ts";
import type { ApiCall } from "./api-call.ts";

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

const jobWarning =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

const policies = ["Foreground", "Background", "Orphan"];

/** Reads the options from the body, or from the query where there is none. */
export async function deleteOptions({ request, query, kernel, resource, warnings }: ApiCall): Promise<DeleteOptions> {
  const bytes = await bodyBytes(request);
  const options = bytes.length === 0 ? fromQuery(query) : fromBody(bytes, { type: checkedMediaType(request), kernel });
  checkDeleteOptions(options);
  const isJob = resource.row.kind === "Job" && resource.row.group === "batch";
  if (isJob && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    warnings.push(jobWarning);
  return options;
}

/** Validates the options. @throws StatusError 422 */
export function checkDeleteOptions(options: DeleteOptions): void {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy } = options;
  if (policy !== undefined && options.orphanDependents !== undefined) {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    errors.push({ type: "Invalid", field: "propagationPolicy", badValue: policy, detail });
  }
  if (policy !== undefined && !policies.includes(policy))
    errors.push(notSupported("propagationPolicy", policy, { valid: [...policies, "nil"] }));
  errors.push(...dryRunErrors(options.dryRun ?? []));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", { errors });
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  const options: DeleteOptions = {};
  const seconds = integer(query.get("gracePeriodSeconds") || null);
  if (seconds !== undefined) options.gracePeriodSeconds = seconds;
  const policy = query.get("propagationPolicy");
  if (policy !== null) options.propagationPolicy = policy;
  const orphan = query.get("orphanDependents");
  if (orphan !== null) options.orphanDependents = orphan !== "false" && orphan !== "0";
  const dryRun = query.getAll("dryRun");
  if (dryRun.length > 0) options.dryRun = dryRun;
  // Both are preconditions in a query, even where they select what is listed too.
  const [uid, resourceVersion] = [query.get("uid"), query.get("resourceVersion")];
  if (uid || resourceVersion)
    options.preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  return options;
}

function fromBody(
  bytes: Uint8Array,
  { type, kernel }: { readonly type: string; readonly kernel: ApiCall["kernel"] },
): DeleteOptions {
  if (type === "application/vnd.kubernetes.protobuf") {
    const decode = kernel.machinery.protobuf({
      group: "meta.k8s.io",
      version: "v1",
      kind: "DeleteOptions",
      custom: false,
    });
    if (decode !== undefined) return decode(bytes);
  }
  if (type !== "" && type !== "application/json" && type !== "application/yaml")
    throw unsupportedMediaType(["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]);
  const text = decodeText(bytes);
  let value: unknown;
  try {
    value = type === "application/yaml" ? decodeYaml(text).value : parsedOptions(text);
  } catch {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonProblem(text) ?? "invalid"}`);
  }
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw badRequest(notAnObject(value));
  const fields = value as Fields;
  checkKind(fields);
  // Of several mistakes the first one of the text is told.
  for (const given of Object.keys(fields)) {
    for (const [name, type, goType] of types) if (name === given) checkType(fields, name, [type, goType]);
  }
  checkInside(fields);
  return withoutNulls(fields);
}

/** Parses JSON; a number that is not spelled as an integer is none, and neither is one beyond 64 bits. */
function parsedOptions(text: string): unknown {
  if (!hasUnusualNumbers(text)) return JSON.parse(text);
  const value = parseWithNumberTexts(text);
  const seconds = (value as Fields | null)?.["gracePeriodSeconds"];
  if (seconds instanceof NumberText && isInt64(seconds.text)) (value as Fields)["gracePeriodSeconds"] = seconds.value;
  return value;
}

const types = [
  ["gracePeriodSeconds", "number", "int64"],
  ["propagationPolicy", "string", "v1.DeletionPropagation"],
  ["orphanDependents", "boolean", "bool"],
  ["preconditions", "object", "v1.Preconditions"],
  ["dryRun", "array", "[]string"],
] as const;

/** Kinds that belong to no group and are known in every version. */
const inEveryVersion: ReadonlySet<string> = new Set([
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
]);

/** Checks the kind: every version has these options, and no other kind is allowed. */
function checkKind({ kind, apiVersion }: Fields): void {
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (value === undefined || value === null || typeof value === "string") continue;
    const why = `json: cannot unmarshal ${goKind(value)} into Go struct field .${name} of type string`;
    throw badRequest(`couldn't get version/kind; json parse error: ${why}`);
  }
  if (!kind || kind === "DeleteOptions") return;
  if (typeof kind === "string" && inEveryVersion.has(kind))
    throw badRequest(`converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`);
  const version = JSON.stringify(apiVersion || "meta.k8s.io/v1");
  throw badRequest(
    `no kind ${JSON.stringify(kind)} is registered for version ${version} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function checkInside({ gracePeriodSeconds, dryRun, preconditions }: Fields): void {
  const cannot = (what: string, field: string, goType: string): Error =>
    badRequest(`json: cannot unmarshal ${what} into Go struct field ${field} of type ${goType}`);
  if (gracePeriodSeconds instanceof NumberText || !Number.isInteger(gracePeriodSeconds ?? 0)) {
    const text = gracePeriodSeconds instanceof NumberText ? gracePeriodSeconds.text : String(gracePeriodSeconds);
    throw cannot(`number ${text}`, "DeleteOptions.gracePeriodSeconds", "int64");
  }
  for (const value of (dryRun ?? []) as unknown[])
    if (typeof value !== "string") throw cannot(goKind(value), "DeleteOptions.dryRun", "string");
  for (const [name, goType] of [
    ["uid", "types.UID"],
    ["resourceVersion", "string"],
  ] as const) {
    const value = (preconditions as Fields | null | undefined)?.[name];
    if (value === undefined || value === null || typeof value === "string") continue;
    throw cannot(goKind(value), `Preconditions.preconditions.${name}`, goType);
  }
}

function checkType(fields: Fields, name: string, [type, goType]: readonly [string, string]): void {
  const value = fields[name];
  if (value === undefined || value === null) return;
  if (value instanceof NumberText && type === "number") return;
  if (type === (Array.isArray(value) ? "array" : typeof value)) return;
  throw badRequest(
    `json: cannot unmarshal ${goKind(value)} into Go struct field DeleteOptions.${name} of type ${goType}`,
  );
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
