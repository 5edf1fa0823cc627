/** Validates services. @see https://kubernetes.io/docs/concepts/services-networking/service/ */
import { isIP } from "node:net";
import type { Fields } from "../../hooks.ts";
import { addressProblem, isAddress, rangeProblem, unreachable } from "../addresses.ts";
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../formats.ts";
import { port as portRule } from "./probe-rules.ts";
import type { RuleContext } from "../rules.ts";

const serviceTypes: readonly string[] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const loadBalancersOnly = "may only be used when `type` is 'LoadBalancer'";

export function serviceCheck(object: Field, { old }: RuleContext): void {
  const spec = object.at("spec");
  const [type, ports] = [spec.at("type"), spec.at("ports")];
  const isHeadless = spec.at("clusterIPs").items[0]?.text === "None";
  if (ports.empty && !isHeadless && type.text !== "ExternalName") ports.required();
  ofType(spec, isHeadless);
  const names = new Set<string>();
  for (const port of ports.items) onePort(port, { isNamed: ports.items.length > 1, names });
  for (const [key, value] of Object.entries(spec.at("selector").fields)) {
    spec.at("selector").with(key).matches(qualifiedName);
    spec.at("selector").with(value).matches(labelValue);
  }
  affinity(spec);
  clusterAddresses(spec, isHeadless);
  for (const ip of spec.at("externalIPs").items) {
    const problem = addressProblem(ip.text) ?? unreachable(ip.text);
    if (problem !== undefined) ip.invalid(problem, ip.text);
  }
  if (type.require()) type.oneOf(serviceTypes);
  uniquePorts(spec);
  annotatedRanges(object, old);
  loadBalancer(spec);
  traffic(spec);
}

function ofType(spec: Field, isHeadless: boolean): void {
  const type = spec.at("type").text;
  if (isHeadless && (type === "LoadBalancer" || type === "NodePort"))
    spec.at("clusterIPs").items[0]?.invalid(`may not be set to 'None' for ${type} services`, "None");
  if (type !== "ExternalName") return;
  for (const name of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"])
    if (!spec.at(name).empty) spec.at(name).forbidden("may not be set for ExternalName services");
  const name = spec.at("externalName");
  const bare = name.with(name.text.replace(/\.$/, ""));
  if (bare.text === "") name.required();
  else bare.matches(dnsSubdomain);
}

interface PortOptions {
  readonly isNamed: boolean;
  readonly names: Set<string>;
}

function onePort(port: Field, { isNamed, names }: PortOptions): void {
  const name = port.at("name");
  if (isNamed && name.text === "") name.required();
  else if (name.text !== "") {
    name.matches(dnsLabel);
    if (names.has(name.text)) name.duplicate();
    names.add(name.text);
  }
  port.at("port").inRange(1, 65535);
  port.at("protocol").requireOneOf(["SCTP", "TCP", "UDP"]);
  portRule(port.at("targetPort"));
  if (port.at("appProtocol").present) port.at("appProtocol").matches(qualifiedName);
}

function affinity(spec: Field): void {
  const [kind, config] = [spec.at("sessionAffinity"), spec.at("sessionAffinityConfig")];
  kind.requireOneOf(["ClientIP", "None"]);
  if (kind.text === "ClientIP") {
    const client = config.at("clientIP");
    if (!config.present) config.required("when session affinity type is ClientIP");
    else if (!client.present) client.required("when session affinity type is ClientIP");
    else if (!client.at("timeoutSeconds").present)
      client.at("timeoutSeconds").required("when session affinity type is ClientIP");
    else {
      const seconds = client.at("timeoutSeconds");
      if (seconds.number <= 0 || seconds.number > 86_400)
        seconds.invalid("must be greater than 0 and less than 86400", seconds.number);
    }
  } else if (kind.text === "None" && config.present) config.forbidden("must not be set when session affinity is None");
}

const families = ["IPv4", "IPv6"];

/** Validates addresses and their families. */
export function clusterAddresses(spec: Field, isHeadless: boolean): void {
  if (spec.at("type").text === "ExternalName") return;
  const [address, list] = [spec.at("clusterIP"), spec.at("clusterIPs")];
  const texts = list.items.map(({ text }) => text);
  if (address.text === "") {
    if (texts.length > 0) list.invalid("must be empty when `clusterIP` is not specified");
  } else if (texts.length === 0) list.required();
  else if (texts[0] !== address.text) list.invalid("first value must match `clusterIP`");
  const seen = new Set<string>();
  for (const family of spec.at("ipFamilies").items) {
    family.oneOf(families);
    if (seen.has(family.text)) family.duplicate();
    seen.add(family.text);
  }
  const policy = spec.at("ipFamilyPolicy");
  if (policy.present) policy.oneOf(["PreferDualStack", "RequireDualStack", "SingleStack"]);
  let isWrong = false;
  for (const [index, ip] of list.items.entries()) {
    if (index === 0 && ip.text === "None") {
      if (texts.length > 1) list.invalid("'None' must be the first and only value");
      isWrong ||= texts.length > 1;
    } else {
      const problem = addressProblem(ip.text);
      if (problem !== undefined) ip.invalid(problem, ip.text);
      isWrong ||= problem !== undefined;
    }
  }
  if (texts.length > 2) list.invalid("may only hold up to 2 values");
  if (isWrong) return;
  if (texts.length > 1 && new Set(texts.map((text) => isIP(text))).size < 2)
    list.invalid("may specify no more than one IP for each IP family");
  if (isHeadless) return;
  for (const [index, family] of spec.at("ipFamilies").items.entries()) {
    const ip = list.items[index];
    if (ip && families.includes(family.text) && `IPv${isIP(ip.text)}` !== family.text)
      ip.invalid(`expected an ${family.text} value as indicated by \`ipFamilies[${index}]\``, ip.text);
  }
}

function uniquePorts(spec: Field): void {
  const ports = spec.at("ports").items;
  if (spec.at("type").text === "ClusterIP") {
    for (const port of ports)
      if (port.at("nodePort").number !== 0) port.at("nodePort").forbidden("may not be used when `type` is 'ClusterIP'");
  }
  const [nodePorts, own] = [new Set<string>(), new Set<string>()];
  for (const port of ports) {
    const node = port.at("nodePort");
    const key = `${port.at("protocol").text}/${node.number}`;
    if (node.number !== 0 && nodePorts.has(key)) node.duplicate();
    nodePorts.add(key);
  }
  for (const port of ports) {
    const [protocol, number] = [port.at("protocol").text, port.at("port").number];
    const key = `${protocol}/${number}`;
    if (own.has(key)) port.duplicate();
    own.add(key);
  }
}

function rangeOf(field: Field, range: string): void {
  const problem = rangeProblem(range);
  if (problem !== undefined) field.invalid(problem, range);
}

const sourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";

/** Validates the ranges in an annotation, which is ignored if the field is set. */
function annotatedRanges(object: Field, old: Fields | undefined): void {
  const annotation = object.at("metadata").at("annotations").key(sourceRanges);
  if (annotation.value === undefined || !object.at("spec").at("loadBalancerSourceRanges").empty) return;
  if (object.at("spec").at("type").text !== "LoadBalancer") annotation.forbidden(loadBalancersOnly);
  const before = old === undefined ? undefined : inner(inner(old, "metadata"), "annotations")[sourceRanges];
  if (annotation.text.trim() === "" || before === annotation.text) return;
  for (const range of annotation.text.trim().split(",")) rangeOf(annotation, range.trim());
}

function loadBalancer(spec: Field): void {
  const isBalanced = spec.at("type").text === "LoadBalancer";
  const ranges = spec.at("LoadBalancerSourceRanges").with(spec.fields["loadBalancerSourceRanges"]);
  if (!ranges.empty) {
    if (!isBalanced) ranges.forbidden(loadBalancersOnly);
    for (const range of ranges.items) rangeOf(range, range.text.trim());
  }
  const [allocates, kind] = [spec.at("allocateLoadBalancerNodePorts"), spec.at("loadBalancerClass")];
  if (allocates.present && !isBalanced) allocates.forbidden(loadBalancersOnly);
  balancerClass(kind, isBalanced);
}

function balancerClass(kind: Field, isBalanced: boolean): void {
  if (!kind.present) return;
  if (isBalanced) kind.matches(qualifiedName);
  else kind.forbidden(loadBalancersOnly);
}

function traffic(spec: Field): void {
  const type = spec.at("type").text;
  const [external, health] = [spec.at("externalTrafficPolicy"), spec.at("healthCheckNodePort")];
  const isOutside =
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && !spec.at("externalIPs").empty);
  if (!isOutside) {
    if (external.text !== "") external.invalid("may only be set for externally-accessible services", external.text);
  } else if (external.require()) external.oneOf(["Cluster", "Local"]);
  if (type !== "LoadBalancer" || external.text !== "Local") {
    if (health.number !== 0)
      health.invalid(
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        health.number,
      );
  }
  const internal = spec.at("internalTrafficPolicy");
  if (internal.present) internal.oneOf(["Cluster", "Local"]);
  else if (["NodePort", "LoadBalancer", "ClusterIP"].includes(type)) internal.required();
  const distribution = spec.at("trafficDistribution");
  if (distribution.present) distribution.oneOf(["PreferClose", "PreferSameZone", "PreferSameNode"], { sorted: false });
}

export function serviceUpdate(object: Field, old: Fields): void {
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  const isName = (type: unknown): boolean => type === "ExternalName";
  if (!isName(spec.at("type").text) && !isName(before["type"])) keptAddresses(spec, before);
  const kind = spec.at("loadBalancerClass");
  const isBalanced = spec.at("type").text === "LoadBalancer";
  if (isBalanced && before["type"] === "LoadBalancer" && kind.value !== before["loadBalancerClass"])
    kind.invalid("may not change once set", kind.value ?? null);
  balancerClass(kind, isBalanced);
  const isAsked = ({ type, externalTrafficPolicy }: Fields): boolean =>
    type === "LoadBalancer" && externalTrafficPolicy === "Local";
  const health = spec.at("healthCheckNodePort");
  if (isAsked(before) && isAsked(spec.fields) && health.number !== before["healthCheckNodePort"])
    health.forbidden("field is immutable");
}

function keptAddresses(spec: Field, before: Fields): void {
  const list = spec.at("clusterIPs");
  const [now, earlier] = [list.items.map(({ text }) => text), (before["clusterIPs"] ?? []) as string[]];
  if (now[0] === "None" && earlier[0] === "None") return;
  const first = spec.at("clusterIPs[0]").with(list.value);
  const changed = "may not change once set";
  if (now.length === earlier.length) {
    for (const [index, ip] of earlier.entries())
      if (ip !== now[index]) spec.at(`clusterIPs[${index}]`).invalid(changed, list.value);
    return;
  }
  if (now.length === 0) first.invalid("primary clusterIP can not be unset", list.value ?? null);
  else if (earlier.length > 0 && now[0] !== earlier[0]) first.invalid(changed, list.value);
  const policy = spec.at("ipFamilyPolicy");
  if (now.length === 1 && earlier.length > 1 && policy.text !== "SingleStack")
    policy.invalid("must be set to 'SingleStack' when releasing the secondary clusterIP", policy.value ?? null);
}

export function serviceStatus(object: Field): void {
  const ingress = object.at("status").at("loadBalancer").at("ingress");
  if (!ingress.empty && object.at("spec").at("type").text !== "LoadBalancer")
    return ingress.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
  for (const one of ingress.items) {
    const [ip, mode, host] = [one.at("ip"), one.at("ipMode"), one.at("hostname")];
    const problem = ip.text === "" ? undefined : addressProblem(ip.text);
    if (problem !== undefined) ip.invalid(problem, ip.text);
    if (!mode.present) {
      if (ip.text !== "") mode.required("must be specified when `ip` is set");
    } else if (ip.text === "") mode.forbidden("may not be specified when `ip` is not set");
    else mode.oneOf(["Proxy", "VIP"]);
    if (host.text === "") continue;
    host.matches(dnsSubdomain);
    if (isAddress(host.text)) host.invalid("must be a DNS name, not an IP address");
  }
}
