/** Validates API services, flow control and devices. */
import { choosesDevices } from "./admissionregistration/expression.ts";
import type { Field } from "./field.ts";
import { inner } from "./fill.ts";
import { dns1035Label, dnsLabel, dnsSubdomain } from "./formats.ts";
import { validateAnnotations, validateLabels } from "./metadata.ts";
import { nodeSelector } from "./selector-rules.ts";
import { isExtended } from "./core/resource-rules.ts";
import { driverName } from "./core/volume-sources.ts";
import { slice } from "./resource/slice-rules.ts";
import type { Rules, RuleTable } from "./rules.ts";

const apiService: Rules = {
  check: (object) => {
    const spec = object.at("spec");
    const [group, version] = [spec.at("group"), spec.at("version")];
    const name = object.at("metadata").at("name");
    const wanted = `${version.text}.${group.text}`;
    if (name.text !== wanted && name.text !== "")
      name.invalid(`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`);
    if (group.text === "") {
      if (version.text !== "v1") group.required("only v1 may have an empty group and it better be legacy kube");
    } else group.matches(dnsSubdomain);
    version.matches(dns1035Label);
    const [groupPriority, versionPriority] = [spec.at("groupPriorityMinimum"), spec.at("versionPriority")];
    if (groupPriority.number <= 0 || groupPriority.number > 20000)
      groupPriority.invalid("must be positive and less than 20000", groupPriority.number);
    if (versionPriority.number <= 0 || versionPriority.number > 1000)
      versionPriority.invalid("must be positive and less than 1000", versionPriority.number);
    const [service, skips, bundle] = [spec.at("service"), spec.at("insecureSkipTLSVerify"), spec.at("caBundle")];
    if (!service.present) {
      if (!bundle.empty) bundle.invalid("local APIServices may not have a caBundle", `${bundle.text.length} bytes`);
      if (skips.value === true) skips.invalid("local APIServices may not have insecureSkipTLSVerify");
      return;
    }
    for (const part of ["namespace", "name"]) if (service.at(part).text === "") service.at(part).required();
    const port = service.at("port");
    if (port.present && (port.number < 1 || port.number > 65535))
      port.invalid("port is not valid: must be between 1 and 65535, inclusive");
    if (skips.value === true && !bundle.empty) skips.invalid("may not be true if caBundle is present");
  },
};

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

const flowSchema: Rules = {
  check: (object) => {
    const spec = object.at("spec");
    const precedence = spec.at("matchingPrecedence");
    if (precedence.number <= 0) precedence.invalid("must be a positive value", precedence.number);
    if (precedence.number > 10000) precedence.invalid("must not be greater than 10000");
    const method = spec.at("distinguisherMethod");
    if (method.present && !["ByNamespace", "ByUser"].includes(method.at("type").text)) {
      method
        .at("type")
        .addStruct("NotSupported", 'supported values: "ByNamespace", "ByUser"', { Type: method.at("type").text });
    }
    const level = spec.at("priorityLevelConfiguration").at("name");
    if (level.text === "") level.required("must reference a priority level");
    else level.matches(dnsSubdomain);
    for (const rule of spec.at("rules").items) flowRule(rule);
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
    else named.at("name").require();
  }
  const [resources, paths] = [rule.at("resourceRules"), rule.at("nonResourceRules")];
  if (resources.empty && paths.empty)
    rule.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  for (const one of resources.items) {
    verbsOf(one);
    for (const name of ["apiGroups", "resources"]) {
      if (one.at(name).empty)
        one
          .at(name)
          .required(`resource rules must supply at least one ${name === "apiGroups" ? "api group" : "resource"}`);
    }
    for (const namespace of one.at("namespaces").items) {
      if (namespace.text === "*") continue;
      for (const detail of dnsLabel(namespace.text))
        namespace.invalid(`each member of this list must be '*' or a DNS-1123 label; ${detail}`, namespace.text);
    }
    if (one.at("namespaces").empty && one.at("clusterScope").value !== true) {
      one.at("namespaces").required("resource rules that are not cluster scoped must supply at least one namespace");
    }
  }
  for (const one of paths.items) {
    verbsOf(one);
    const urls = one.at("nonResourceURLs");
    if (urls.empty) urls.required("nonResourceURLs must contain at least one value");
    for (const url of urls.items) {
      if (url.text === "") url.invalid("must not be empty", "");
      else if (url.text !== "*" && !url.text.startsWith("/")) url.invalid("must start with slash");
    }
  }
}

function verbsOf(rule: Field): void {
  const list = rule.at("verbs");
  if (list.empty) return list.required("verbs must contain at least one value");
  const given = list.items.map(({ text }) => text);
  if (given.includes("*")) {
    if (given.length > 1) list.invalid("if '*' is present, must not specify other verbs");
  } else if (given.some((verb) => !verbs.includes(verb))) {
    list.add("NotSupported", `supported values: ${verbs.map((verb) => `"${verb}"`).join(", ")}`, given);
  }
}

const level: Rules = {
  check: (object) => {
    const spec = object.at("spec");
    const [type, limited] = [spec.at("type"), spec.at("limited")];
    const isExempt = object.at("metadata").at("name").text === "exempt";
    if (type.text === "") return type.required();
    if ((type.text === "Exempt") !== isExempt && (type.text === "Exempt" || isExempt)) {
      type.invalid("must be 'Exempt' if and only if `name` is 'exempt'");
    }
    if (type.text === "Exempt") {
      if (limited.present) limited.forbidden("must be nil if the type is not Limited");
      return undefined;
    }
    if (type.text !== "Limited") return void type.oneOf(["Exempt", "Limited"]);
    if (spec.at("exempt").present) spec.at("exempt").forbidden("must be nil if the type is Limited");
    if (!limited.present) return limited.required("must not be empty when type is Limited");
    const shares = limited.at("nominalConcurrencyShares");
    if (shares.number < 0) shares.invalid("must be a non-negative integer");
    limitResponse(limited.at("limitResponse"));
    return undefined;
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

function deviceRequests(spec: Field): void {
  const names = new Set<string>();
  for (const config of spec.at("devices").at("config").items) opaque(config);
  for (const request of spec.at("devices").at("requests").items) {
    const name = request.at("name");
    name.matches(dnsLabel);
    if (names.has(name.text)) request.duplicate(name.text);
    names.add(name.text);
    const [exactly, first] = [request.at("exactly"), request.at("firstAvailable")];
    if (!exactly.present && first.empty) request.required("exactly one of `exactly` or `firstAvailable` is required");
    if (exactly.present && !first.empty)
      request.invalid("exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set", null);
    if (!exactly.present) continue;
    const deviceClass = exactly.at("deviceClassName");
    if (deviceClass.text === "") deviceClass.required();
    else deviceClass.matches(dnsSubdomain);
  }
  for (const constraint of spec.at("devices").at("constraints").items) {
    if (!constraint.at("matchAttribute").present && !constraint.at("distinctAttribute").present)
      constraint.required(
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      );
  }
}

const templateFields = new Set(["annotations", "labels", "creationTimestamp"]);

/** Objects made from a template get only labels and annotations from it. */
function templateMetadata(metadata: Field): void {
  validateAnnotations(metadata.at("annotations"));
  validateLabels(metadata.at("labels"));
  for (const name of metadata.keys) {
    const field = metadata.at(name);
    if (
      !templateFields.has(name) &&
      field.present &&
      field.value !== "" &&
      !(Array.isArray(field.value) && field.empty)
    )
      field.forbidden("cannot be set");
  }
}

function opaque(config: Field): void {
  const field = config.at("opaque");
  if (!field.present) return field.required();
  driverName(field.at("driver"));
  if (!field.at("parameters").present) field.at("parameters").required();
}

export const clusterKinds: RuleTable = {
  "apiregistration.k8s.io/APIService": apiService,
  "flowcontrol.apiserver.k8s.io/FlowSchema": flowSchema,
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": level,
  "resource.k8s.io/ResourceClaim": {
    check: (object) => deviceRequests(object.at("spec")),
    checkNewOnly: true,
    update: (object, old) => object.at("spec").immutable(inner(old, "spec")),
    status: (object) => {
      const status = object.at("status");
      const selector = status.at("allocation").at("nodeSelector");
      if (!status.at("reservedFor").empty && !status.at("allocation").present)
        status.at("reservedFor").forbidden("may not be specified when `allocated` is not set");
      if (selector.present) nodeSelector(selector);
    },
  },
  "resource.k8s.io/ResourceClaimTemplate": {
    check: (object) => {
      const template = object.at("spec");
      templateMetadata(template.at("metadata"));
      deviceRequests(template.at("spec"));
    },
    update: (object, old) => object.at("spec").immutable(inner(old, "spec")),
  },
  "resource.k8s.io/DeviceClass": {
    check: (object) => {
      for (const selector of object.at("spec").at("selectors").items) {
        if (!selector.at("cel").present) selector.at("cel").required();
        else choosesDevices(selector.at("cel").at("expression"));
      }
      for (const config of object.at("spec").at("config").items) opaque(config);
      const extended = object.at("spec").at("extendedResourceName");
      if (extended.present && !isExtended(extended.text))
        extended.invalid("must be a valid extended resource name", extended.text);
    },
  },
  "resource.k8s.io/ResourceSlice": slice,
};
