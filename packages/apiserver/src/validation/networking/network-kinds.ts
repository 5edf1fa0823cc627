/** Validates kinds of networking and discovery. */
import { isIP } from "node:net";
import { deepEquals } from "#platform/equality";
import { canonicalAddress, addressProblem, isCidr, isStrictSubset, rangeProblem } from "../addresses.ts";
import { dropTopology, endpointSlice } from "../discovery/endpoint-slices.ts";
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsLabel, dnsSubdomain, pathSegment, patternError, portName, wildcardSubdomain } from "../formats.ts";
import type { RuleTable } from "../rules.ts";
import { labelSelector } from "../selector-rules.ts";

function host(field: Field): void {
  if (isIP(field.text) !== 0) field.invalid("must be a DNS name, not an IP address");
  else field.matches(field.text.includes("*") ? wildcardSubdomain : dnsSubdomain);
}

function backend(field: Field): void {
  const [service, resource] = [field.at("service"), field.at("resource")];
  if (resource.present && service.present) return field.invalid("cannot set both resource and service backends", "");
  if (resource.present) {
    if (resource.at("apiGroup").present) resource.at("apiGroup").matches(dnsSubdomain);
    for (const name of ["kind", "name"]) if (resource.at(name).require()) resource.at(name).matches(pathSegment);
    return undefined;
  }
  if (!service.present) return field.invalid("resource or service backend is required", "");
  if (service.at("name").require()) service.at("name").matches(dnsLabel);
  const [name, number] = [service.at("port").at("name"), service.at("port").at("number")];
  if (name.text !== "" && number.number !== 0) return field.invalid("cannot set both port name & port number", "");
  if (name.text !== "") name.matches(portName);
  else if (number.number !== 0) number.inRange(1, 65535);
  else field.required("port name or number is required");
  return undefined;
}

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];

function ingressPath(path: Field): void {
  const [type, text] = [path.at("pathType"), path.at("path")];
  if (!type.present) return type.required("pathType must be specified");
  if (type.text === "Exact" || type.text === "Prefix") {
    if (!text.text.startsWith("/")) text.invalid("must be an absolute path", text.text);
    for (const bad of ["//", "/./", "/../", "%2f", "%2F"]) {
      if (text.text.startsWith("/") && text.text.includes(bad)) text.invalid(`must not contain '${bad}'`);
    }
  } else if (type.text === "ImplementationSpecific") {
    if (text.text !== "" && !text.text.startsWith("/")) text.invalid("must be an absolute path");
  } else type.oneOf(pathTypes);
  return backend(path.at("backend"));
}

function ingress(object: Field): void {
  const spec = object.at("spec");
  const [rules, fallback] = [spec.at("rules"), spec.at("defaultBackend")];
  if (rules.empty && !fallback.present)
    spec.invalid("either `defaultBackend` or `rules` must be specified", rules.value ?? null);
  if (fallback.present) backend(fallback);
  for (const rule of rules.items) {
    if (rule.at("host").text !== "") host(rule.at("host"));
    if (!rule.at("http").present) continue;
    const paths = rule.at("http").at("paths");
    if (paths.empty) paths.required();
    for (const path of paths.items) ingressPath(path);
  }
  for (const tls of spec.at("tls").items) {
    for (const name of tls.at("hosts").items) name.matches(name.text.includes("*") ? wildcardSubdomain : dnsSubdomain);
    if (tls.at("secretName").text !== "") tls.at("secretName").matches(dnsSubdomain);
  }
  if (spec.at("ingressClassName").present) spec.at("ingressClassName").matches(dnsSubdomain);
}

function ingressClass(object: Field): void {
  const controller = object.at("spec").at("controller");
  if (controller.require()) {
    if (controller.text.length > 250) controller.tooLong(250);
    domainPath(controller);
  }
  const parameters = object.at("spec").at("parameters");
  if (!parameters.present) return;
  if (parameters.at("apiGroup").text !== "") parameters.at("apiGroup").matches(dnsSubdomain);
  for (const name of ["kind", "name"]) if (parameters.at(name).require()) parameters.at(name).matches(pathSegment);
  const [scope, namespace] = [parameters.at("scope"), parameters.at("namespace")];
  if (!scope.present) return scope.required();
  if (scope.text !== "Cluster" && scope.text !== "Namespace") scope.oneOf(["Cluster", "Namespace"]);
  else if (scope.text === "Namespace" && namespace.text === "")
    namespace.required("`parameters.scope` is set to 'Namespace'");
  else if (scope.text === "Cluster" && namespace.present) namespace.forbidden("`parameters.scope` is set to 'Cluster'");
}

function domainPath(field: Field): void {
  const [first = "", ...rest] = field.text.split("/");
  const path = rest.join("/");
  if (rest.length === 0 || first === "" || path === "")
    return field.invalid('must be a domain-prefixed path (such as "acme.io/foo")');
  field.with(first).matches(dnsSubdomain);
  const allowed = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
  if (!new RegExp(`^${allowed}$`).test(path))
    field.with(path).invalid(patternError("Invalid path", allowed, { examples: [] }));
}

function policyPorts(ports: Field): void {
  for (const port of ports.items) {
    const [protocol, number, end] = [port.at("protocol"), port.at("port"), port.at("endPort")];
    if (protocol.present) protocol.oneOf(["TCP", "UDP", "SCTP"], { sorted: false });
    if (typeof number.value === "number") {
      number.inRange(1, 65535);
      if (end.present) {
        if (end.number < number.number) end.invalid("must be greater than or equal to `port`", number.number);
        end.inRange(1, 65535);
      }
    } else if (typeof number.value === "string") {
      if (end.present) end.invalid("may not be specified when `port` is non-numeric");
      number.matches(portName);
    } else if (end.present) end.invalid("may not be specified when `port` is not specified");
  }
}

function peer(field: Field): void {
  let parts = 0;
  for (const name of ["podSelector", "namespaceSelector"]) {
    if (!field.at(name).present) continue;
    parts += 1;
    labelSelector(field.at(name));
  }
  const block = field.at("ipBlock");
  if (block.present) {
    parts += 1;
    const cidr = block.at("cidr");
    if (cidr.text === "") cidr.required();
    else {
      const problem = rangeProblem(cidr.text);
      if (problem !== undefined) cidr.invalid(problem, cidr.text);
    }
    for (const except of block.at("except").items) {
      const problem = rangeProblem(except.text);
      if (problem !== undefined) except.invalid(problem, except.text);
      if (isCidr(cidr.text) && isCidr(except.text) && !isStrictSubset(except.text, cidr.text))
        except.invalid("must be a strict subset of `cidr`", except.text);
    }
  }
  if (parts === 0) field.required("must specify a peer");
  else if (block.present && parts > 1) field.forbidden("may not specify both ipBlock and another peer");
}

function networkPolicy(object: Field): void {
  const spec = object.at("spec");
  labelSelector(spec.at("podSelector"));
  for (const [direction, side] of [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const) {
    for (const rule of spec.at(direction).items) {
      policyPorts(rule.at("ports"));
      for (const one of rule.at(side).items) peer(one);
    }
  }
  const types = spec.at("policyTypes");
  if (types.items.length > 2) return types.invalid("may not specify more than two policyTypes");
  for (const type of types.items) type.oneOf(["Ingress", "Egress"], { sorted: false });
}

/** Requires the class of the annotation of before 1.18 to be that of the field. */
function classOnce(object: Field): void {
  const annotation = object.at("metadata").at("annotations").fields["kubernetes.io/ingress.class"];
  const name = object.at("spec").at("ingressClassName");
  if (annotation === undefined || !name.present || annotation === name.text) return;
  object
    .at("annotations.kubernetes.io/ingress.class")
    .with(annotation)
    .invalid("must match `ingressClassName` when both are specified");
}

function ingressStatus(object: Field): void {
  for (const one of object.at("status").at("loadBalancer").at("ingress").items) {
    const [ip, host] = [one.at("ip"), one.at("hostname")];
    const problem = ip.text === "" ? undefined : addressProblem(ip.text);
    if (problem !== undefined) ip.invalid(problem, ip.text);
    if (host.text === "") continue;
    host.matches(dnsSubdomain);
    if (isIP(host.text) !== 0) host.invalid("must be a DNS name, not an IP address");
  }
}

/** Returns the problem of an address that has several spellings. */
function spellingProblem(text: string): string | undefined {
  const usual = canonicalAddress(text);
  return usual === text ? undefined : `must be in canonical form (${JSON.stringify(usual)})`;
}

function canonicalRange(range: Field): void {
  const [address = "", bits = ""] = range.text.split("/");
  const usual = `${canonicalAddress(address)}/${bits}`;
  const isOdd = usual !== range.text;
  const problem =
    rangeProblem(range.text) ?? (isOdd ? `must be in canonical form (${JSON.stringify(usual)})` : undefined);
  if (problem !== undefined) range.invalid(problem, range.text);
}

function ranges(object: Field): void {
  const list = object.at("spec").at("cidrs");
  if (list.empty) return list.required("at least one CIDR required");
  const families = list.items.map(({ text }) => isIP(text.split("/")[0] ?? ""));
  if (list.items.length > 2) return list.invalid("may only hold up to 2 values");
  for (const range of list.items) canonicalRange(range);
  if (families.length === 2 && families[0] === families[1] && families[0] !== 0)
    list.invalid("may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
  return undefined;
}

export const networkKinds: RuleTable = {
  "networking.k8s.io/Ingress": {
    check: (object, { old }) => {
      ingress(object);
      if (old === undefined) classOnce(object);
    },
    status: ingressStatus,
  },
  "networking.k8s.io/IngressClass": {
    check: ingressClass,
    updateFirst: true,
    update: (object, old) => {
      const controller = object.at("spec").at("controller");
      controller.with(controller.text).immutable(inner(old, "spec")["controller"]);
    },
  },
  "networking.k8s.io/NetworkPolicy": { check: networkPolicy },
  "networking.k8s.io/ServiceCIDR": {
    check: ranges,
    checkNewOnly: true,
    update: (object, old) => {
      const before = (inner(old, "spec")["cidrs"] ?? []) as string[];
      const list = object.at("spec").at("cidrs");
      if (list.items.length !== before.length) return list.invalid("field is immutable", list.value ?? null);
      for (const [index, range] of list.items.entries()) range.immutable(before[index]);
    },
  },
  "networking.k8s.io/IPAddress": {
    name: (value) => {
      const problem = addressProblem(value) ?? spellingProblem(value);
      return problem === undefined ? [] : [problem];
    },
    check: (object) => {
      const reference = object.at("spec").at("parentRef");
      if (!reference.present) return reference.required();
      const [group, resource, namespace, name] = ["group", "resource", "namespace", "name"].map((each) =>
        reference.at(each),
      ) as [Field, Field, Field, Field];
      if (group.text !== "") group.matches(dnsSubdomain);
      for (const each of [resource, name]) {
        if (each.text === "") each.required();
        else each.matches(pathSegment);
      }
      if (namespace.text !== "") namespace.matches(pathSegment);
    },
    update: (object, old) => {
      const reference = object.at("spec").at("parentRef");
      if (deepEquals(reference.value, inner(old, "spec")["parentRef"])) return;
      if (!reference.present) return reference.invalid("field is immutable", null);
      object.at("spec").at("parentRef").invalid("field is immutable");
    },
  },
  "discovery.k8s.io/EndpointSlice": {
    prepare: (object) => dropTopology(object, undefined),
    prepareUpdate: dropTopology,
    check: (object, { old }) => endpointSlice(object, old),
  },
};
