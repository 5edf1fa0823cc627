/** Rules of webhook configurations and of admission policies. */
import type { AdmissionScope } from "../../cel/admission-types.ts";
import { dyn, remembered, type Type } from "../../cel/type.ts";
import { compiles, type Expected } from "./expression.ts";
import type { Field } from "../field.ts";
import { dns1035Label, dnsSubdomain, pathSegment, qualifiedName } from "../formats.ts";
import { conditionList } from "../condition-rules.ts";
import type { RuleTable } from "../rules.ts";
import { clientConfig } from "./client-config.ts";
import { labelSelector } from "../selector-rules.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const knownVersions = ["v1", "v1beta1"];

function rule(field: Field): void {
  for (const name of ["operations", "apiGroups", "apiVersions"]) {
    const list = field.at(name);
    if (list.empty) list.required();
    if (list.items.length > 1 && list.items.some(({ text }) => text === "*"))
      list.invalid(
        "if '*' is present, must not specify other " +
          (name === "operations" ? "operations" : name === "apiGroups" ? "API groups" : "API versions"),
      );
    for (const item of list.items) {
      if (name === "operations") item.oneOf(operations);
      if (name === "apiVersions" && item.text === "") item.required();
    }
  }
  const resources = field.at("resources");
  if (resources.empty) resources.required();
  ruleResources(resources);
  const scope = field.at("scope");
  if (scope.present) scope.oneOf(["*", "Cluster", "Namespaced"]);
}

function ruleResources(resources: Field): void {
  const [wholes, everywhere] = [new Set<string>(), new Set<string>()];
  let isPlain = false;
  for (const item of resources.items) {
    if (item.text === "") {
      item.required();
      continue;
    }
    const slash = item.text.indexOf("/");
    if (slash < 0) {
      isPlain = item.text !== "*";
      continue;
    }
    const [resource, part] = [item.text.slice(0, slash), item.text.slice(slash + 1)];
    if (wholes.has(resource)) item.invalid(`if '${resource}/*' is present, must not specify ${item.text}`);
    if (everywhere.has(part)) item.invalid(`if '*/${part}' is present, must not specify ${item.text}`);
    if (part === "*") wholes.add(resource);
    if (resource === "*") everywhere.add(part);
  }
  const texts = resources.items.map(({ text }) => text);
  if (texts.length > 1 && texts.includes("*/*"))
    resources.invalid("if '*/*' is present, must not specify other resources");
  if (texts.includes("*") && isPlain)
    resources.invalid("if '*' is present, must not specify other resources without subresources");
}

function conditions(list: Field, scope: AdmissionScope): void {
  const names = new Set<string>();
  for (const condition of list.items) {
    const [name, expression] = [condition.at("name"), condition.at("expression")];
    if (expression.text.trim() === "") expression.required();
    else compiles(expression, { ...scope, result: ["bool"], trimmed: "shown" });
    if (name.text === "") name.required();
    else name.matches(qualifiedName);
    if (name.text !== "" && names.has(name.text)) name.duplicate();
    names.add(name.text);
  }
}

function domainName(field: Field): void {
  if (field.text === "") return field.required();
  const wrong = dnsSubdomain(field.text);
  if (wrong.length > 0) return field.invalid(wrong.join(","));
  if (field.text.split(".").length < 3)
    field.invalid("should be a domain with at least three segments separated by dots");
}

function webhooks(object: Field): void {
  const names = new Set<string>();
  for (const hook of object.at("webhooks").items) {
    domainName(hook.at("name"));
    for (const one of hook.at("rules").items) rule(one);
    for (const [name, values] of [
      ["failurePolicy", ["Fail", "Ignore"]],
      ["matchPolicy", ["Equivalent", "Exact"]],
    ] as const) {
      if (hook.at(name).present) hook.at(name).oneOf(values);
    }
    const effects = hook.at("sideEffects");
    if (!effects.present) effects.required("must specify one of None, NoneOnDryRun");
    else effects.oneOf(["None", "NoneOnDryRun"]);
    const timeout = hook.at("timeoutSeconds");
    if (timeout.present && (timeout.number < 1 || timeout.number > 30))
      timeout.invalid("the timeout value must be between 1 and 30 seconds");
    for (const name of ["namespaceSelector", "objectSelector"]) if (hook.at(name).present) labelSelector(hook.at(name));
    clientConfig(hook.at("clientConfig"));
    if (hook.at("reinvocationPolicy").present) hook.at("reinvocationPolicy").oneOf(["IfNeeded", "Never"]);
    conditions(hook.at("matchConditions"), { params: false });
    const versions = hook.at("admissionReviewVersions");
    reviewVersions(versions);
    const name = hook.at("name");
    if (name.text !== "" && names.has(name.text)) name.duplicate();
    names.add(name.text);
  }
}

function reviewVersions(versions: Field): void {
  if (versions.empty) return versions.required("must specify one of v1, v1beta1");
  const seen = new Set<string>();
  for (const version of versions.items) {
    version.matches(dns1035Label);
    if (seen.has(version.text)) version.invalid("duplicate version");
    seen.add(version.text);
  }
  if (!knownVersions.some((version) => seen.has(version))) versions.invalid("must include at least one of v1, v1beta1");
}

function constraints(field: Field, isMutating: boolean): void {
  if (!field.present) return field.required();
  const rules = field.at("resourceRules");
  matchResources(field);
  if (isMutating) {
    for (const operation of rules.items.flatMap((one) => one.at("operations").items)) {
      const allowed = ["*", "CONNECT", "CREATE", "UPDATE"];
      if (!allowed.includes(operation.text)) rules.at("operations").with(operation.text).oneOf(allowed);
    }
  }
  if (rules.empty) rules.required();
}

/** Validates the resources to which a policy or a binding applies. */
function matchResources(field: Field): void {
  if (field.at("matchPolicy").present) field.at("matchPolicy").oneOf(["Equivalent", "Exact"]);
  for (const name of ["namespaceSelector", "objectSelector"]) if (field.at(name).present) labelSelector(field.at(name));
  for (const list of [field.at("resourceRules"), field.at("excludeResourceRules")]) {
    for (const one of list.items) {
      const names = new Set<string>();
      for (const name of one.at("resourceNames").items) {
        for (const detail of pathSegment(name.text)) name.invalid(detail);
        if (names.has(name.text)) name.duplicate();
        names.add(name.text);
      }
      rule(one);
    }
  }
}

function validatingPolicy(object: Field): void {
  const spec = object.at("spec");
  if (spec.at("failurePolicy").present) spec.at("failurePolicy").oneOf(["Fail", "Ignore"]);
  paramKind(spec.at("paramKind"));
  const params = spec.at("paramKind").present;
  constraints(spec.at("matchConstraints"), false);
  conditions(spec.at("matchConditions"), { params });
  const isComposed = spec.at("variables").items.length > 0;
  const scope = { params, variables: isComposed ? variableTypes(spec, { params }) : undefined };
  const [validations, annotations] = [spec.at("validations"), spec.at("auditAnnotations")];
  if (validations.empty && annotations.empty) {
    for (const list of [validations, annotations])
      list.required("validations or auditAnnotations must contain at least one item");
    return;
  }
  for (const validation of validations.items) {
    expressionOf(validation.at("expression"), { absent: "expression is not specified", ...scope, result: ["bool"] });
    const messageExpression = validation.at("messageExpression");
    if (messageExpression.present && messageExpression.text.trim() === "")
      messageExpression.invalid("must be non-empty if specified", messageExpression.text);
    else if (messageExpression.present)
      compiles(messageExpression, { ...scope, authorizer: false, result: ["string"] });
    const message = validation.at("message");
    if (message.present && message.text.trim() === "" && message.text !== "")
      message.invalid("must be non-empty if specified");
    else if (/[\n\r]/.test(message.text.trim())) message.invalid("must not contain line breaks");
    const reason = validation.at("reason");
    if (reason.present) reason.oneOf(["Forbidden", "Invalid", "RequestEntityTooLarge"], { sorted: true });
  }
  const policy = object.at("metadata").at("name").text;
  const keys = new Set<string>();
  for (const annotation of annotations.items) {
    const key = annotation.at("key");
    for (const detail of qualifiedName(`${policy}/${key.text}`)) key.invalid(detail, `${policy}/${key.text}`);
    const absent = "valueExpression is not specified";
    expressionOf(annotation.at("valueExpression"), {
      absent,
      ...scope,
      result: ["string", "null_type"],
      trimmed: "read",
    });
    if (keys.has(key.text)) key.duplicate();
    keys.add(key.text);
  }
}

/** Returns the types of a policy's variables, each of which may refer to those before it. */
function variableTypes(spec: Field, scope: AdmissionScope): Map<string, Type> {
  const types = new Map<string, Type>();
  for (const variable of spec.at("variables").items) {
    const name = variable.at("name");
    if (name.require("name is not specified") && !/^[A-Za-z_]\w*$/.test(name.text))
      name.invalid("must be a valid CEL identifier");
    const expression = variable.at("expression");
    const type = expressionOf(expression, { absent: "expression is not specified", ...scope, variables: types });
    if (expression.text.trim() !== "") types.set(name.text, remembered(type));
  }
  return types;
}

interface ExpressionOf extends Expected {
  /** The message when the value is absent. */
  readonly absent: string;
}

function expressionOf(expression: Field, { absent, ...expected }: ExpressionOf): Type {
  if (expression.text.trim() !== "") return compiles(expression, expected);
  expression.required(absent);
  return dyn;
}

function paramKind(kind: Field): void {
  if (!kind.present) return;
  const [version, name] = [kind.at("apiVersion"), kind.at("kind")];
  if (version.require()) {
    const [group, ...rest] = version.text.includes("/") ? version.text.split("/") : ["", version.text];
    if (rest.length > 1) version.invalid(`unexpected GroupVersion string: ${version.text}`);
    else {
      if (group) for (const detail of dnsSubdomain(group)) version.with(group).invalid(detail);
      for (const detail of dns1035Label(rest[0] ?? "")) version.with(rest[0]).invalid(detail);
    }
  }
  if (name.require())
    for (const detail of dns1035Label(name.text.toLowerCase()))
      name.invalid(`may have mixed case, but should otherwise match: ${detail}`);
}

function mutatingPolicy(object: Field): void {
  const spec = object.at("spec");
  if (spec.at("failurePolicy").present) spec.at("failurePolicy").oneOf(["Fail", "Ignore"]);
  paramKind(spec.at("paramKind"));
  const params = spec.at("paramKind").present;
  constraints(spec.at("matchConstraints"), true);
  conditions(spec.at("matchConditions"), { params });
  const scope = { params, patches: true, variables: variableTypes(spec, { params, patches: true }) };
  const mutations = spec.at("mutations");
  if (mutations.empty) mutations.required("mutations must contain at least one item");
  for (const mutation of mutations.items) {
    const type = mutation.at("patchType");
    if (type.text === "") type.required();
    else if (type.text === "ApplyConfiguration" || type.text === "JSONPatch") {
      const field = type.text === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
      const patch = mutation.at(field);
      if (!patch.present) patch.required(`must be specified when patchType is ${type.text}`);
      else if (patch.at("expression").text.trim() === "") patch.at("expression").required();
      else
        compiles(patch.at("expression"), {
          ...scope,
          result: [type.text === "JSONPatch" ? "list(JSONPatch)" : "Object"],
          trimmed: "shown",
        });
      const other = field === "jsonPatch" ? "applyConfiguration" : "jsonPatch";
      if (mutation.at(other).present)
        mutation.at(other).invalid(`must not be specified when patchType is ${type.text}`, `{${other}}`);
    } else type.oneOf(["ApplyConfiguration", "JSONPatch"]);
  }
  const policy = spec.at("reinvocationPolicy");
  if (policy.text === "") policy.required();
  else policy.oneOf(["IfNeeded", "Never"]);
}

/** Validates a policy's reference to its parameters. */
function paramRef(reference: Field): void {
  if (!reference.present) return;
  const [name, selector, action] = [
    reference.at("name"),
    reference.at("selector"),
    reference.at("parameterNotFoundAction"),
  ];
  if (name.text !== "" && selector.present) {
    name.forbidden("name and selector are mutually exclusive");
    selector.forbidden("name and selector are mutually exclusive");
  }
  if (name.text !== "") for (const detail of pathSegment(name.text)) name.invalid(detail);
  else if (!selector.present) reference.required("one of name or selector must be specified");
  if (selector.present) labelSelector(selector);
  if (!action.present) action.required();
  else action.oneOf(["Deny", "Allow"], { sorted: false });
}

function policyBinding(needsActions: boolean): (object: Field) => void {
  return (object) => {
    const spec = object.at("spec");
    if (spec.at("policyName").text === "") spec.at("policyName").required();
    else spec.at("policyName").matches(dnsSubdomain);
    paramRef(spec.at("paramRef"));
    if (spec.at("matchResources").present) matchResources(spec.at("matchResources"));
    const actions = spec.at("validationActions");
    if (!needsActions) return;
    if (actions.empty) actions.required("at least one validation action is required");
    const seen = new Set<string>();
    for (const action of actions.items) {
      if (!action.oneOf(["Audit", "Deny", "Warn"])) continue;
      if (seen.has(action.text)) action.duplicate();
      seen.add(action.text);
    }
    if (seen.has("Deny") && seen.has("Warn")) {
      const why = "repeating the same validation failure information in the API response and headers serves no purpose";
      actions.invalid(`must not contain both Deny and Warn (${why})`);
    }
  };
}

const group = "admissionregistration.k8s.io";

export const admissionKinds: RuleTable = {
  [`${group}/MutatingWebhookConfiguration`]: { check: webhooks },
  [`${group}/ValidatingWebhookConfiguration`]: { check: webhooks },
  [`${group}/ValidatingAdmissionPolicy`]: {
    check: validatingPolicy,
    status: (object) => conditionList(object.at("status").at("conditions")),
  },
  [`${group}/MutatingAdmissionPolicy`]: { check: mutatingPolicy },
  [`${group}/ValidatingAdmissionPolicyBinding`]: { check: policyBinding(true) },
  [`${group}/MutatingAdmissionPolicyBinding`]: { check: policyBinding(false) },
};
