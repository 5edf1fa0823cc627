/** Parses the options of deletions. */
import { type FieldError, notSupported } from "../field-error.ts";
import { hasUnusualNumbers } from "../numbers.ts";
import type { Fields } from "../hooks.ts";
import { bodyBytes, decodeText, checkedMediaType, unsupportedMediaType } from "../request/body.ts";
import { decodeProtobuf } from "../protobuf/decode.ts";
import { dryRunErrors, integer } from "../request/query.ts";
import { isInt64, NumberText, parseWithNumberTexts } from "../schema/number-text.ts";
import { decodeYaml } from "../request/yaml.ts";
import { badRequest, invalid } from "../status.ts";
import { builtInSchema } from "../tables/tables.ts";
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

/** Reads the options from the body, or from the query when there is no body. */
export async function deleteOptions({ request, query, resource, warnings }: ApiCall): Promise<DeleteOptions> {
  const bytes = await bodyBytes(request);
  const options = bytes.length === 0 ? fromQuery(query) : fromBody(bytes, checkedMediaType(request));
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
  // In a query, both are preconditions, even if they also select the listed objects.
  const [uid, resourceVersion] = [query.get("uid"), query.get("resourceVersion")];
  if (uid || resourceVersion)
    options.preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  return options;
}

function fromBody(bytes: Uint8Array, type: string): DeleteOptions {
  if (type === "application/vnd.kubernetes.protobuf") return decodeProtobuf(bytes, builtInSchema);
  if (type !== "" && type !== "application/json" && type !== "application/yaml")
    throw unsupportedMediaType(["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]);
  const text = decodeText(bytes);
  const value = parsedOptions(text, type);
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw badRequest("the options of the deletion are no object");
  const fields = withoutNulls(value as Fields);
  for (const [name, fits] of Object.entries(types))
    if (fields[name] !== undefined && !fits(fields[name]))
      throw badRequest(`the options of the deletion have a ${name} of another type`);
  if (fields["kind"] && fields["kind"] !== "DeleteOptions")
    throw badRequest(`the body of the deletion is a ${String(fields["kind"])}, not a DeleteOptions`);
  return fields;
}

/** Parses the body. `gracePeriodSeconds` must be spelled as an integer of 64 bits. @throws StatusError 400 */
function parsedOptions(text: string, type: string): unknown {
  try {
    if (type === "application/yaml") return decodeYaml(text).value;
    if (!hasUnusualNumbers(text)) return JSON.parse(text);
    const value = parseWithNumberTexts(text) as Fields | null;
    const seconds = value?.["gracePeriodSeconds"];
    if (seconds instanceof NumberText && isInt64(seconds.text)) return { ...value, gracePeriodSeconds: seconds.value };
    return value;
  } catch (error) {
    throw badRequest(`the options of the deletion cannot be read: ${(error as Error).message}`);
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  apiVersion: isText,
  kind: isText,
  gracePeriodSeconds: Number.isInteger,
  propagationPolicy: isText,
  orphanDependents: (value) => typeof value === "boolean",
  preconditions: (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const { uid, resourceVersion } = value as Fields;
    return isText(uid ?? "") && isText(resourceVersion ?? "");
  },
  dryRun: (value) => Array.isArray(value) && value.every(isText),
};

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
