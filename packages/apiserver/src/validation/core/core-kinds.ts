/** Validates the small kinds of the core group. */
import { deepEquals } from "#platform/equality";
import type { Fields, KubeObject } from "../../hooks.ts";
import { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { configMapKey, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../formats.ts";
import { isNegative, quantityNumber, quantityOrder } from "../quantities.ts";
import { quota } from "./quota-rules.ts";
import { containerResourceName, isStandardResource } from "./resource-rules.ts";
import type { RuleContext, Rules, RuleTable } from "../rules.ts";
import { eventKinds } from "./event-rules.ts";
import { service } from "./service-kind.ts";
import { addressProblem, notAnAddress, rangeProblem, unreachable } from "../addresses.ts";

const mostBytes = 1024 * 1024;

const configMap: Rules = {
  check: (object) => {
    const [data, binary] = [object.at("data"), object.at("binaryData")];
    let size = 0;
    for (const key of data.keys) {
      data.key(key).with(key).matches(configMapKey);
      if (Object.hasOwn(binary.fields, key)) data.key(key).invalid("duplicate of key present in binaryData", key);
      size += Buffer.byteLength(String(data.fields[key]));
    }
    for (const key of binary.keys) {
      binary.key(key).with(key).matches(configMapKey);
      size += Buffer.from(String(binary.fields[key]), "base64").length;
    }
    if (size > mostBytes) new Field("[]", "", object).tooLong(mostBytes);
  },
  update: frozen(["data", "binaryData"]),
};

const secretTypes: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

const secret: Rules = {
  check: (object) => {
    const data = object.at("data");
    let size = 0;
    for (const key of data.keys) {
      data.key(key).with(key).matches(configMapKey);
      size += Buffer.from(String(data.fields[key]), "base64").length;
    }
    if (size > mostBytes) data.tooLong(mostBytes);
    for (const key of secretTypes[object.at("type").text] ?? []) {
      if (!Object.hasOwn(data.fields, key)) data.key(key).required();
      else if (key.startsWith(".docker")) isJson(data.key(key));
    }
    if (object.at("type").text === "kubernetes.io/service-account-token") {
      const name = object.at("metadata").at("annotations").key("kubernetes.io/service-account.name");
      if (name.text === "") name.required();
    }
    const hasLogin = Object.hasOwn(data.fields, "username") || Object.hasOwn(data.fields, "password");
    if (object.at("type").text === "kubernetes.io/basic-auth" && !hasLogin) {
      data.key("username").required();
      data.key("password").required();
    }
  },
  updateFirst: true,
  update: (object, old) => {
    object.at("type").immutable(old["type"]);
    frozen(["data"])(object, old);
  },
  selectable: { type: (object: KubeObject) => String(object["type"] ?? "") },
};

function isJson(entry: Field): void {
  const text = Buffer.from(entry.text, "base64").toString();
  try {
    JSON.parse(text);
  } catch {
    entry.invalid("it is not JSON", "<secret contents redacted>");
  }
}

function frozen(fields: readonly string[]): (object: Field, old: Fields) => void {
  return (object, old) => {
    if (old["immutable"] !== true) return;
    const reason = "field is immutable when `immutable` is set";
    if (object.at("immutable").value !== true) object.at("immutable").forbidden(reason);
    for (const name of fields) {
      if (!deepEquals(object.fields[name] ?? {}, old[name] ?? {})) object.at(name).forbidden(reason);
    }
  };
}

function limits(object: Field): void {
  const seen = new Set<string>();
  for (const limit of object.at("spec").at("limits").items) {
    const type = limit.at("type");
    if (type.matches(qualifiedName) && !type.text.includes("/") && !limitTypes.has(type.text))
      type.invalid("must be a standard limit type or fully qualified", type.text);
    if (seen.has(type.text)) type.duplicate();
    seen.add(type.text);
    const isPod = type.text === "Pod";
    if (isPod) {
      for (const name of ["default", "defaultRequest"]) {
        if (!limit.at(name).empty) limit.at(name).forbidden("may not be specified when `type` is 'Pod'");
      }
    }
    if (type.text === "PersistentVolumeClaim") {
      const has = (name: string): boolean => limit.at(name).at("storage").present;
      if (!has("min") && !has("max"))
        limit.at("limits").required("either minimum or maximum storage value is required, but neither was provided");
    }
    const values = ["max", "min", ...(isPod ? [] : ["default", "defaultRequest"]), "maxLimitRequestRatio"];
    const names = new Set(values.flatMap((name) => limit.at(name).keys));
    for (const list of values) {
      for (const name of limit.at(list).keys) limitName(limit.at(list).key(name), { name, type: type.text });
    }
    for (const name of [...names].toSorted()) limitOf(limit, name);
  }
}

const limitTypes = new Set(["Pod", "Container", "PersistentVolumeClaim"]);

function limitName(entry: Field, { name, type }: { readonly name: string; readonly type: string }): void {
  if (type === "Pod" || type === "Container") return containerResourceName(entry.with(name));
  const wrong = entry.with(name);
  if (wrong.matches(qualifiedName) && !name.includes("/") && !isStandardResource(name))
    wrong.invalid("must be a standard resource type or fully qualified", name);
}

function limitOf(limit: Field, name: string): void {
  const value = (list: string): Field => limit.at(list).key(name);
  const [max, min, normal, request] = [value("max"), value("min"), value("default"), value("defaultRequest")];
  const above = (one: Field, other: Field): boolean =>
    one.present && other.present && quantityOrder(one.value, other.value) > 0;
  const text = (field: Field): string => String(field.value);
  if (above(min, max)) min.invalid(`min value ${text(min)} is greater than max value ${text(max)}`, text(min));
  if (above(min, request))
    request.invalid(`min value ${text(min)} is greater than default request value ${text(request)}`, text(request));
  if (above(request, max))
    request.invalid(`default request value ${text(request)} is greater than max value ${text(max)}`, text(request));
  if (above(request, normal))
    request.invalid(
      `default request value ${text(request)} is greater than default limit value ${text(normal)}`,
      text(request),
    );
  if (above(min, normal))
    normal.invalid(`min value ${text(min)} is greater than default value ${text(normal)}`, text(min));
  if (above(normal, max))
    normal.invalid(`default value ${text(normal)} is greater than max value ${text(max)}`, text(max));
  const ratio = value("maxLimitRequestRatio");
  if (ratio.present && quantityOrder(ratio.value, "1") < 0)
    ratio.invalid(`ratio ${text(ratio)} is less than 1`, text(ratio));
  if (!ratio.present || !max.present || !min.present) return;
  const most = quantityNumber(max.value) / quantityNumber(min.value);
  if (quantityNumber(ratio.value) > most)
    ratio.invalid(`ratio ${text(ratio)} is greater than max/min = ${most.toFixed(6)}`, text(ratio));
}

/** Keeps only the name in references to Secrets. */
function onlyNames(object: KubeObject): void {
  const { secrets } = object;
  if (!Array.isArray(secrets)) return;
  object["secrets"] = secrets.map((secret: Fields | null) => (secret?.["name"] ? { name: secret["name"] } : {}));
}

function endpoints(object: Field): void {
  for (const subset of object.at("subsets").items) {
    const [ready, unready, ports] = [subset.at("addresses"), subset.at("notReadyAddresses"), subset.at("ports")];
    if (ready.empty && unready.empty) subset.required("must specify `addresses` or `notReadyAddresses`");
    for (const address of [...ready.items, ...unready.items]) endpointAddress(address);
    for (const port of ports.items) {
      const name = port.at("name");
      if (ports.items.length > 1 && name.text === "") name.required();
      else if (name.text !== "") name.matches(dnsLabel);
      port.at("port").inRange(1, 65535);
      port.at("protocol").requireOneOf(["SCTP", "TCP", "UDP"]);
      if (port.at("appProtocol").present) port.at("appProtocol").matches(qualifiedName);
    }
  }
}

function endpointAddress(address: Field): void {
  const ip = address.at("ip");
  const problem = addressProblem(ip.text);
  if (problem !== undefined) ip.invalid(problem, ip.text);
  if (problem === notAnAddress) ip.invalid("must be a valid IP address", ip.text);
  const why = problem === undefined ? unreachable(ip.text) : undefined;
  if (why !== undefined) ip.invalid(why, ip.text);
  if (address.at("hostname").text !== "") address.at("hostname").matches(dnsLabel);
  if (address.at("nodeName").present) address.at("nodeName").matches(dnsSubdomain);
}

function podRanges(ranges: Field): void {
  for (const range of ranges.items) rangeOf(range);
  const families = new Set(ranges.items.map(({ text }) => text.includes(":")));
  if (ranges.items.length > 1 && ranges.items.length !== families.size)
    ranges.invalid("may specify no more than one CIDR for each IP family");
}

function rangeOf(range: Field): void {
  const problem = rangeProblem(range.text);
  if (problem !== undefined) range.invalid(problem, range.text);
}

function namespaceFinalizers(object: Field, { write }: RuleContext): void {
  const list = object.at("spec").at("finalizers");
  for (const item of list.items) {
    // Only an update reports the index of the wrong item.
    const field = write.subresource === "finalize" ? item : list.with(item.text);
    field.matches(qualifiedName);
    if (!item.text.includes("/") && item.text !== "kubernetes")
      field.invalid("name is neither a standard finalizer name nor is it fully qualified", item.text);
  }
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const declaredFeature = /^[A-Z][A-Za-z0-9]*(\/[A-Za-z0-9]+)*$/;

/** Removes a field that the kubelet does not read any more. */
function withoutKubeletConfig(object: KubeObject): void {
  delete inner(object, "spec")["configSource"];
  delete inner(object, "status")["config"];
}

function nodeResources(list: Field): void {
  for (const name of list.keys) {
    const value = list.at(name);
    if (isNegative(value.value)) value.invalid("must be greater than or equal to 0", String(value.value));
  }
}

function nodeAddresses(list: Field): void {
  const seen = new Set<string>();
  for (const address of list.items) {
    const [type, text] = [address.at("type").text, address.at("address").text];
    if (seen.has(`${type} ${text}`)) address.duplicate();
    seen.add(`${type} ${text}`);
  }
}

const node: Rules = {
  prepare: withoutKubeletConfig,
  prepareUpdate: withoutKubeletConfig,
  status: (object) => {
    const status = object.at("status");
    for (const name of ["capacity", "allocatable"]) nodeResources(status.at(name));
    for (const feature of status.at("declaredFeatures").items) {
      if (!declaredFeature.test(feature.text))
        feature.invalid(
          `invalid feature name ${JSON.stringify(feature.text)}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
          feature.text,
        );
    }
    nodeAddresses(status.at("addresses"));
  },
  check: (object, { old }) => {
    const taints = object.at("spec").at("taints");
    const place = object.at("metadata").at("taints").with(taints.value);
    const seen = new Set<string>();
    for (const taint of place.items) {
      taint.at("key").matches(qualifiedName);
      const effect = taint.at("effect");
      for (const detail of labelValue(taint.at("value").text)) taint.at("value").invalid(detail);
      if (effect.require()) effect.oneOf(effects, { sorted: false });
      const pair = `${taint.at("key").text} ${effect.text}`;
      if (seen.has(pair)) {
        taint.add("Duplicate", "taints must be unique by key and effect pair", taint.value ?? {});
      }
      seen.add(pair);
    }
    for (const name of ["capacity", "allocatable"]) nodeResources(object.at("status").at(name));
    if (old === undefined) podRanges(object.at("spec").at("podCIDRs"));
  },
  update: (object, old) => {
    nodeAddresses(object.at("status").at("addresses"));
    const before = (inner(old, "spec")["podCIDRs"] ?? []) as string[];
    const ranges = object.at("spec").at("podCIDRs");
    podRanges(ranges);
    if (before.length > 0 && !deepEquals(ranges.value, before)) {
      ranges.forbidden('node updates may not change podCIDR except from "" to valid');
    }
    const provider = object.at("spec").at("providerID");
    if (inner(old, "spec")["providerID"] && provider.text !== inner(old, "spec")["providerID"])
      provider.forbidden('node updates may not change providerID except from "" to valid');
    const external = object.at("spec").at("externalID");
    if (external.text !== (inner(old, "spec")["externalID"] ?? "")) external.forbidden("may not be updated");
  },
};

export const coreKinds: RuleTable = {
  "/ConfigMap": configMap,
  "/Secret": secret,
  "/LimitRange": {
    check: limits,
    prepare: ({ metadata }) => {
      if (!metadata.name && !metadata.generateName) metadata.name = crypto.randomUUID();
    },
  },
  "/ResourceQuota": quota,
  "/Endpoints": { check: endpoints },
  "/ServiceAccount": {
    prepare: (object) => onlyNames(object),
    prepareUpdate: (next) => onlyNames(next),
  },
  "/Namespace": {
    prepare: (object) => {
      object["status"] = { phase: "Active" };
      const spec = inner(object, "spec");
      const finalizers = (spec["finalizers"] ?? []) as string[];
      object["spec"] = {
        ...spec,
        finalizers: finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"],
      };
    },
    prepareUpdate: (next, old, { subresource }) => {
      if (subresource !== "finalize") next["spec"] = old["spec"];
    },
    check: namespaceFinalizers,
    status: (object) => {
      const phase = object.at("status").at("phase");
      const expected = object.at("metadata").at("deletionTimestamp").present ? "Terminating" : "Active";
      if (phase.text === expected) return;
      const when = expected === "Active" ? "empty" : "not empty";
      object
        .at("status")
        .at("Phase")
        .with(phase.text)
        .invalid(`may only be '${expected}' if \`deletionTimestamp\` is ${when}`);
    },
    selectable: {
      "status.phase": (object) => String(inner(object, "status")["phase"] ?? ""),
    },
  },
  "/Node": {
    ...node,
    selectable: { "spec.unschedulable": (object) => String(inner(object, "spec")["unschedulable"] ?? false) },
  },
  "/Service": service,
  "/Event": {
    ...eventKinds.core,
    selectable: eventFields("involvedObject", "source"),
  },
  "events.k8s.io/Event": {
    ...eventKinds.events,
    selectable: eventFields("regarding", "deprecatedSource"),
  },
};

function eventFields(subject: string, source: string): Readonly<Record<string, (object: KubeObject) => string>> {
  const names = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
  return {
    ...Object.fromEntries(
      names.map((name) => [
        `${subject === "regarding" ? "regarding" : "involvedObject"}.${name}`,
        (object: KubeObject) => String(inner(object, subject)[name] ?? ""),
      ]),
    ),
    reason: (object) => String(object["reason"] ?? ""),
    ...(subject === "regarding" && {
      reportingController: (object: KubeObject) => String(object["reportingController"] ?? ""),
    }),
    reportingComponent: (object) => String(object["reportingComponent"] ?? object["reportingController"] ?? ""),
    source: (object) => String(inner(object, source)["component"] ?? object["reportingComponent"] ?? ""),
    type: (object) => String(object["type"] ?? ""),
  };
}
