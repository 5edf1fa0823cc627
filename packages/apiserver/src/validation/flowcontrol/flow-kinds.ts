/** Validates how requests are given their turn: flow schemas and priority levels. */
import { deepEquals } from "#platform/equality";
import type { Fields } from "../../hooks.ts";
import { type Field, withoutEmpty } from "../field.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";
import type { Rules } from "../rules.ts";

const everything = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const groups = (...names: readonly string[]): object[] => names.map((name) => ({ kind: "Group", group: { name } }));

/** The specs that nobody may change, because every server relies on them. */
const mandatorySchemas: Readonly<Record<string, Fields>> = {
  exempt: {
    priorityLevelConfiguration: { name: "exempt" },
    matchingPrecedence: 1,
    rules: [{ subjects: groups("system:masters"), ...everything }],
  },
  "catch-all": {
    priorityLevelConfiguration: { name: "catch-all" },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: "ByUser" },
    rules: [{ subjects: groups("system:unauthenticated", "system:authenticated"), ...everything }],
  },
};
const mandatoryLevels: Readonly<Record<string, Fields>> = {
  exempt: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  "catch-all": {
    type: "Limited",
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: "Reject" } },
  },
};

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

export const flowSchema: Rules = {
  check: (object) => {
    const spec = object.at("spec");
    const precedence = spec.at("matchingPrecedence");
    if (precedence.number <= 0) precedence.invalid("must be a positive value", precedence.number);
    if (precedence.number > 10000) precedence.invalid("must not be greater than 10000");
    const { text: own } = object.at("metadata").at("name");
    if (precedence.number === 1 && own !== "exempt")
      precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1");
    const method = spec.at("distinguisherMethod");
    if (method.present && !["ByNamespace", "ByUser"].includes(method.at("type").text)) {
      method.at("type").add("NotSupported", 'supported values: "ByNamespace", "ByUser"', method.value);
    }
    const level = spec.at("priorityLevelConfiguration").at("name");
    if (level.text === "") level.required("must reference a priority level");
    else level.matches(dnsSubdomain);
    for (const rule of spec.at("rules").items) flowRule(rule);
    const fixed = Object.hasOwn(mandatorySchemas, own) ? mandatorySchemas[own] : undefined;
    if (fixed !== undefined && !deepEquals(withoutEmpty(spec.value), fixed))
      spec.invalid(`spec of '${own}' must equal the fixed value`);
  },
};

function flowRule(rule: Field): void {
  const subjects = rule.at("subjects");
  if (subjects.empty) subjects.required("subjects must contain at least one value");
  for (const subject of subjects.items) {
    const kind = subject.at("kind");
    const field = { Group: "group", ServiceAccount: "serviceAccount", User: "user" }[kind.text];
    if (field === undefined) {
      kind.oneOf(["Group", "ServiceAccount", "User"]);
      continue;
    }
    for (const [other, its] of [
      ["ServiceAccount", "serviceAccount"],
      ["User", "user"],
      ["Group", "group"],
    ] as const) {
      if (its !== field && subject.at(its).present)
        subject.at(its).forbidden(`${its} is forbidden when subject kind is not '${other}'`);
    }
    const named = subject.at(field);
    if (!named.present) named.required(`${field} is required when subject kind is '${kind.text}'`);
    else if (kind.text === "ServiceAccount") account(named);
    else named.at("name").require();
  }
  const [resources, paths] = [rule.at("resourceRules"), rule.at("nonResourceRules")];
  if (resources.empty && paths.empty)
    rule.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  for (const one of resources.items) {
    verbsOf(one);
    for (const [name, what] of [
      ["apiGroups", "api group"],
      ["resources", "resource"],
    ] as const) {
      if (one.at(name).empty) one.at(name).required(`resource rules must supply at least one ${what}`);
      else isWildcard(one.at(name), `${what}s`);
    }
    const namespaces = one.at("namespaces");
    if (namespaces.empty && one.at("clusterScope").value !== true)
      namespaces.required("resource rules that are not cluster scoped must supply at least one namespace");
    if (isWildcard(namespaces, "namespaces")) continue;
    for (const namespace of namespaces.items) {
      for (const detail of dnsLabel(namespace.text))
        namespace.invalid(`each member of this list must be '*' or a DNS-1123 label; ${detail}`, namespace.text);
    }
  }
  for (const one of paths.items) {
    verbsOf(one);
    const urls = one.at("nonResourceURLs");
    if (urls.empty) urls.required("nonResourceURLs must contain at least one value");
    if (!isWildcard(urls, "non-resource URLs")) for (const url of urls.items) urlPath(url);
  }
}

/** Returns whether a list has the wildcard, beside which it may have nothing else. */
function isWildcard(list: Field, others: string): boolean {
  if (!list.items.some(({ text }) => text === "*")) return false;
  if (list.items.length > 1) list.invalid(`if '*' is present, must not specify other ${others}`);
  return true;
}

function account(subject: Field): void {
  const [name, namespace] = [subject.at("name"), subject.at("namespace")];
  if (name.require() && name.text !== "*") name.matches(dnsSubdomain);
  if (namespace.require("must specify namespace for service account")) namespace.matches(dnsLabel);
}

function urlPath(url: Field): void {
  const { text } = url;
  if (text === "") return url.invalid("must not be empty", "");
  if (text === "/") return undefined;
  if (!text.startsWith("/")) return url.invalid("must start with slash");
  if (text.includes(" ")) return url.invalid("must not contain white-space");
  if (text.includes("//")) return url.invalid("must not contain double slash");
  const star = text.indexOf("*");
  if (star >= 0 && (star !== text.length - 1 || !text.endsWith("/*")))
    url.invalid("wildcard can only do suffix matching");
  return undefined;
}

function verbsOf(rule: Field): void {
  const list = rule.at("verbs");
  if (list.empty) return list.required("verbs must contain at least one value");
  const given = list.items.map(({ text }) => text);
  if (isWildcard(list, "verbs")) return undefined;
  if (given.some((verb) => !verbs.includes(verb)))
    list.add("NotSupported", `supported values: ${verbs.map((verb) => `"${verb}"`).join(", ")}`, given);
  return undefined;
}

export const priorityLevel: Rules = {
  check: (object) => {
    const { text: own } = object.at("metadata").at("name");
    const spec = object.at("spec");
    levelSpec(spec, own === "exempt");
    const fixed = Object.hasOwn(mandatoryLevels, own) ? mandatoryLevels[own] : undefined;
    if (fixed === undefined) return;
    const compared = own === "exempt" ? { ...spec.fields, exempt: fixed["exempt"] } : spec.fields;
    const except = own === "exempt" ? " except the 'spec.exempt' field" : "";
    if (!deepEquals(withoutEmpty(compared), fixed))
      spec.invalid(`spec of '${own}'${except} must equal the fixed value`);
  },
  status: (object) => {
    const types = new Set<string>();
    for (const condition of object.at("status").at("conditions").items) {
      const type = condition.at("type");
      if (types.has(type.text)) type.duplicate(type.text);
      types.add(type.text);
      type.require();
    }
  },
};

function levelSpec(spec: Field, isExempt: boolean): void {
  const [type, limited, exempt] = [spec.at("type"), spec.at("limited"), spec.at("exempt")];
  if (type.text === "") return type.required();
  if ((type.text === "Exempt") !== isExempt) type.invalid("must be 'Exempt' if and only if `name` is 'exempt'");
  if (type.text === "Exempt") {
    if (limited.present) limited.forbidden("must be nil if the type is not Limited");
    if (exempt.at("nominalConcurrencyShares").number < 0)
      exempt.at("nominalConcurrencyShares").invalid("must be a non-negative integer");
    lendable(exempt);
    return undefined;
  }
  if (type.text !== "Limited") return void type.oneOf(["Exempt", "Limited"]);
  if (exempt.present) exempt.forbidden("must be nil if the type is Limited");
  if (!limited.present) return limited.required("must not be empty when type is Limited");
  const shares = limited.at("nominalConcurrencyShares");
  if (shares.number < 0) shares.invalid("must be a non-negative integer");
  limitResponse(limited.at("limitResponse"));
  lendable(limited);
  const borrowed = limited.at("borrowingLimitPercent");
  if (borrowed.number < 0) borrowed.invalid("if specified, must be a non-negative integer");
  return undefined;
}

function lendable(level: Field): void {
  if (level.at("lendablePercent").present) level.at("lendablePercent").inRange(0, 100);
}

function limitResponse(response: Field): void {
  const [type, queuing] = [response.at("type"), response.at("queuing")];
  if (type.text === "") return type.required();
  if (type.text === "Reject") {
    if (queuing.present) queuing.forbidden("must be nil if limited.limitResponse.type is not Limited");
    return;
  }
  if (type.text !== "Queue") return void type.oneOf(["Queue", "Reject"]);
  if (!queuing.present) return queuing.required("must not be empty if limited.limitResponse.type is Limited");
  const [queues, hand, length] = [queuing.at("queues"), queuing.at("handSize"), queuing.at("queueLengthLimit")];
  if (length.number <= 0) length.invalid("must be positive", length.number);
  if (queues.number <= 0) queues.invalid("must be positive", queues.number);
  else if (queues.number > 10_000_000) queues.invalid("must not be greater than 10000000");
  if (hand.number <= 0) hand.invalid("must be positive", hand.number);
  else if (hand.number > queues.number) hand.invalid(`should not be greater than queues (${queues.number})`);
}
