/** Services: their addresses and ports, and the rules of them. @see https://kubernetes.io/docs/concepts/services-networking/service/ */
import { isIP } from "node:net";
import type { Fields, WriteContext } from "../hooks.ts";
import { each, fill, inner } from "./fill.ts";
import type { Field } from "./field.ts";
import { port as portRule } from "./probe-rules.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "./formats.ts";
import type { Rules } from "./rules.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const [firstNodePort, lastNodePort] = [30000, 32767];

/** The range of addresses as the real server is started with it: 10.96.0.0/16. */
const prefix = "10.96";
/** Nothing is allocated on a dry run. */
const triedAddress = `${prefix}.0.0`;

export const service: Rules = {
  prepare: (object, context) => allocate(inner(object, "spec"), context),
  prepareUpdate: (next, old, context) => {
    if (context.subresource !== "") return;
    keepAllocated(inner(next, "spec"), inner(old, "spec"));
    allocate(inner(next, "spec"), context);
  },
  check,
  update: (object, old) => {
    const before = inner(old, "spec");
    const addresses = object.at("spec").at("clusterIPs");
    const earlier = (before["clusterIPs"] ?? []) as string[];
    const isInside = (spec: Fields): boolean => spec["type"] !== "ExternalName";
    if (isInside(before) && isInside(object.at("spec").fields) && earlier.length > 0) {
      const given = (addresses.value ?? []) as string[];
      if (given[0] !== earlier[0]) addresses.items[0]?.invalid("may not change once set", given);
    }
  },
  status: (object) => {
    const ingress = object.at("status").at("loadBalancer").at("ingress");
    if (!ingress.empty && object.at("spec").at("type").text !== "LoadBalancer") {
      ingress.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    }
  },
  selectable: {
    "spec.clusterIP": (object) => String(inner(object, "spec")["clusterIP"] ?? ""),
    "spec.type": (object) => String(inner(object, "spec")["type"] ?? ""),
  },
};

function needsPorts(spec: Fields): boolean {
  return (
    spec["type"] === "NodePort" || (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  );
}

function allocate(spec: Fields, { reader, dryRun }: WriteContext): void {
  if (!types.includes(String(spec["type"]))) return;
  if (spec["type"] === "ExternalName") return;
  const others = reader.list({ group: "", plural: "services" }).map((other) => inner(other, "spec"));
  if (!spec["clusterIP"]) {
    const given = (spec["clusterIPs"] as string[] | undefined)?.[0];
    spec["clusterIP"] = given ?? (dryRun ? triedAddress : freeAddress(others));
  }
  const addresses = spec["clusterIPs"];
  if (!Array.isArray(addresses) || addresses.length === 0) spec["clusterIPs"] = [spec["clusterIP"]];
  fill(spec, { ipFamilies: [isIP(String(spec["clusterIP"])) === 6 ? "IPv6" : "IPv4"], ipFamilyPolicy: "SingleStack" });
  if (!needsPorts(spec)) return;
  if (dryRun) for (const [index, port] of each(spec, "ports").entries()) port["nodePort"] ||= lastNodePort + 2 + index;
  else nodePorts(spec, others);
}

function freeAddress(others: readonly Fields[]): string {
  const taken = new Set(others.flatMap((other) => (other["clusterIPs"] ?? []) as string[]));
  for (;;) {
    const address = `${prefix}.${Math.floor(Math.random() * 256)}.${1 + Math.floor(Math.random() * 254)}`;
    if (!taken.has(address) && address !== `${prefix}.0.1`) return address;
  }
}

function nodePorts(spec: Fields, others: readonly Fields[]): void {
  const own = each(spec, "ports");
  const taken = new Set([...others.flatMap((other) => each(other, "ports")), ...own].map((one) => one["nodePort"]));
  for (const one of own) {
    while (!one["nodePort"]) {
      const candidate = firstNodePort + Math.floor(Math.random() * (lastNodePort - firstNodePort + 1));
      if (taken.has(candidate)) continue;
      taken.add(candidate);
      one["nodePort"] = candidate;
    }
  }
}

/** What was allocated stays, unless the new type has no use for it. */
function keepAllocated(next: Fields, old: Fields): void {
  if (old["type"] === "ExternalName") return;
  if (next["clusterIP"] !== old["clusterIP"] && Bun.deepEquals(next["clusterIPs"], old["clusterIPs"])) {
    next["clusterIPs"] = next["clusterIP"] ? [next["clusterIP"]] : [];
  }
  const allocated = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
  for (const name of allocated) {
    const isEmpty =
      next[name] === undefined || next[name] === "" || (Array.isArray(next[name]) && next[name].length === 0);
    if (next["type"] !== "ExternalName") {
      if (isEmpty) next[name] = structuredClone(old[name]);
    } else if (isEmpty || Bun.deepEquals(next[name], old[name])) delete next[name];
  }
  const samePort = (one: Fields): Fields | undefined =>
    each(old, "ports").find((earlier) => earlier["port"] === one["port"] && earlier["protocol"] === one["protocol"]);
  for (const one of each(next, "ports")) {
    const before = samePort(one)?.["nodePort"];
    if (needsPorts(next)) {
      if (!one["nodePort"] && before) one["nodePort"] = before;
    } else if (one["nodePort"] === before) delete one["nodePort"];
  }
  if (next["type"] === "ExternalName") delete next["internalTrafficPolicy"];
  if (next["type"] !== "LoadBalancer") delete next["allocateLoadBalancerNodePorts"];
  if (!needsPorts(next) && next["type"] !== "LoadBalancer" && !next["externalIPs"])
    delete next["externalTrafficPolicy"];
}

function check(object: Field): void {
  const spec = object.at("spec");
  const type = spec.at("type");
  const ports = spec.at("ports");
  const hasNone = spec.at("clusterIP").text === "None";
  if (ports.empty && !hasNone && type.text !== "ExternalName") ports.required();
  if (type.text === "ExternalName") {
    const name = spec.at("externalName");
    const bare = name.with(name.text.replace(/\.$/, ""));
    if (name.text === "") name.required();
    else bare.matches(dnsSubdomain);
  }
  const names = new Set<string>();
  const seen: string[] = [];
  for (const port of ports.items) {
    const { length } = ports.items;
    onePort(port, { isNamed: length > 1, isHeadless: hasNone, names });
  }
  for (const port of ports.items) {
    const key = `${port.at("protocol").text}/${port.at("port").number}`;
    if (seen.includes(key)) port.addStruct("Duplicate", "", internalPort(port.fields));
    seen.push(key);
  }
  for (const [key, value] of Object.entries(spec.at("selector").fields)) {
    spec.at("selector").with(key).matches(qualifiedName);
    spec.at("selector").with(value).matches(labelValue);
  }
  const affinity = spec.at("sessionAffinity");
  if (affinity.require()) affinity.oneOf(["ClientIP", "None"]);
  for (const ip of spec.at("externalIPs").items) {
    if (isIP(ip.text) === 0) ip.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  if (type.require()) type.oneOf(types);
}

/** Keys are those of the type that the server works with. */
function internalPort(port: Fields): object {
  return {
    Name: port["name"] ?? "",
    Protocol: port["protocol"] ?? "",
    AppProtocol: port["appProtocol"] ?? null,
    Port: port["port"] ?? 0,
    TargetPort: 0,
    NodePort: 0,
  };
}

interface PortOptions {
  readonly isNamed: boolean;
  readonly isHeadless: boolean;
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
  const protocol = port.at("protocol");
  if (protocol.require()) protocol.oneOf(["SCTP", "TCP", "UDP"]);
  portRule(port.at("targetPort"));
  if (port.at("appProtocol").present) port.at("appProtocol").matches(qualifiedName);
}
