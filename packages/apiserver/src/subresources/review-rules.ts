/** Validates access reviews. */
import type { FieldError } from "../field-error.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { badRequest, invalid } from "../status.ts";
import { labelValue, qualifiedName } from "../validation/formats.ts";
import type { Requirement, Selector } from "./review-selectors.ts";

interface AccessSpec {
  readonly resourceAttributes?: {
    readonly namespace?: string;
    readonly fieldSelector?: Selector;
    readonly labelSelector?: Selector;
  };
  readonly nonResourceAttributes?: Fields;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly token?: string;
  readonly namespace?: string;
}

/** Validates a review. @throws StatusError 400 or 422. */
export function checkReview(kind: string, review: KubeObject): void {
  const spec = (review["spec"] ?? {}) as AccessSpec;
  if (kind === "TokenReview" && !spec.token) throw badRequest("token is required for TokenReview in authentication");
  if (kind === "SelfSubjectRulesReview" && !spec.namespace) throw badRequest("no namespace on request");
  if (!kind.endsWith("AccessReview")) return;
  const errors = [...specErrors(kind, spec), ...metadataErrors(kind, review)];
  if (kind === "LocalSubjectAccessReview") errors.push(...localErrors(spec, review));
  if (errors.length > 0) throw invalid({ group: "authorization.k8s.io", kind: "" }, "", { errors });
}

function specErrors(kind: string, spec: AccessSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const detail = "cannot be specified in combination with resourceAttributes";
    errors.push({
      type: "Invalid",
      field: "spec.nonResourceAttributes",
      badValue: nonResourceAttributes,
      detail,
    });
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push({ type: "Invalid", field: "spec.resourceAttributes", badValue: null, detail });
  }
  if (kind !== "SelfSubjectAccessReview" && !spec.user && (spec.groups ?? []).length === 0) {
    const detail = "at least one of user or group must be specified";
    errors.push({ type: "Invalid", field: "spec.user", badValue: spec.user ?? "", detail });
  }
  const { fieldSelector, labelSelector } = resourceAttributes ?? {};
  errors.push(...selectorErrors(fieldSelector, "spec.resourceAttributes.fieldSelector", fieldErrors));
  errors.push(...selectorErrors(labelSelector, "spec.resourceAttributes.labelSelector", labelErrors));
  return errors;
}

type Check = (requirement: Requirement, at: string) => FieldError[];

function selectorErrors(selector: Selector | null | undefined, field: string, check: Check): FieldError[] {
  if (selector === undefined || selector === null) return [];
  const { rawSelector = "" } = selector;
  const requirements = selector.requirements ?? [];
  const errors: FieldError[] = [];
  if (rawSelector !== "" && requirements.length > 0) {
    const detail = "may not specified at the same time as requirements";
    errors.push({ type: "Invalid", field: `${field}.rawSelector`, badValue: rawSelector, detail });
  }
  if (rawSelector === "" && requirements.length === 0) {
    const detail = `when ${field} is specified, requirements or rawSelector is required`;
    errors.push({ type: "Required", field: `${field}.requirements`, detail });
  }
  for (const [index, requirement] of requirements.entries()) {
    const at = `${field}.requirements[${index}]`;
    errors.push(...check(requirement, at));
  }
  return errors;
}

/** Checks the number of values; unknown operators are accepted, because a newer client may send them. */
function countErrors({ operator, values }: Requirement, at: string): FieldError[] {
  const [field, count] = [`${at}.values`, (values ?? []).length];
  if ((operator === "In" || operator === "NotIn") && count === 0)
    return [{ type: "Required", field, detail: "must be specified when `operator` is 'In' or 'NotIn'" }];
  if ((operator === "Exists" || operator === "DoesNotExist") && count > 0)
    return [{ type: "Forbidden", field, detail: "may not be specified when `operator` is 'Exists' or 'DoesNotExist'" }];
  return [];
}

function fieldErrors(requirement: Requirement, at: string): FieldError[] {
  const missing: FieldError = { type: "Required", field: `${at}.key`, detail: "must be specified" };
  return [...(requirement.key ? [] : [missing]), ...countErrors(requirement, at)];
}

function labelErrors(requirement: Requirement, at: string): FieldError[] {
  const { key, values } = requirement;
  const wrong = (field: string, badValue: string, details: readonly string[]): FieldError[] =>
    details.map((detail) => ({ type: "Invalid", field, badValue, detail }));
  return [
    ...countErrors(requirement, at),
    ...wrong(`${at}.key`, key ?? "", qualifiedName(key ?? "")),
    ...(values ?? []).flatMap((value, index) => wrong(`${at}.values[${index}]`, value, labelValue(value))),
  ];
}

function metadataErrors(kind: string, { metadata }: KubeObject): FieldError[] {
  const isLocal = kind === "LocalSubjectAccessReview";
  const allowed = isLocal ? ["managedFields", "namespace"] : ["managedFields"];
  const entries = Object.entries(metadata).filter(([, value]) => value !== null && value !== undefined);
  if (entries.every(([name]) => allowed.includes(name))) return [];
  const detail = isLocal ? "must be empty except for namespace" : "must be empty";
  return [{ type: "Invalid", field: "metadata", badValue: Object.fromEntries(entries), detail }];
}

function localErrors(
  { resourceAttributes, nonResourceAttributes }: AccessSpec,
  { metadata }: KubeObject,
): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = resourceAttributes?.namespace ?? "";
  if (resourceAttributes !== undefined && namespace !== (metadata.namespace ?? "")) {
    const field = "spec.resourceAttributes.namespace";
    errors.push({ type: "Invalid", field, badValue: namespace, detail: "must match metadata.namespace" });
  }
  if (nonResourceAttributes !== undefined) {
    const detail = "disallowed on this kind of request";
    errors.push({ type: "Invalid", field: "spec.nonResourceAttributes", badValue: nonResourceAttributes, detail });
  }
  return errors;
}
