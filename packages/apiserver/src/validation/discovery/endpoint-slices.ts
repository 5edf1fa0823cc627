/** Validates endpoint slices. */
import { isIP } from "node:net";
import { deepEquals } from "#platform/equality";
import type { KubeObject } from "../../hooks.ts";
import { canonicalAddress, addressProblem, unreachable } from "../addresses.ts";
import { type Field, withoutEmpty } from "../field.ts";
import { each, inner } from "../fill.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from "../formats.ts";
import { validateLabels } from "../metadata.ts";

const [mostEndpoints, mostAddresses, mostPorts, mostTopology, mostHints] = [1000, 100, 20_000, 16, 8];

/** Validates a slice. @param old the slice before; unchanged endpoints are not validated again */
export function endpointSlice(object: Field, old: KubeObject | undefined): void {
  const type = object.at("addressType");
  if (type.text === "") type.required();
  else type.oneOf(["FQDN", "IPv4", "IPv6"]);
  ports(object.at("ports"));
  if (old === undefined || !deepEquals(object.fields["endpoints"], old["endpoints"]))
    endpoints(object.at("endpoints"), type.text);
  if (old !== undefined && old["addressType"] !== type.text) type.with(type.text).immutable(old["addressType"]);
}

const hostname = "kubernetes.io/hostname";

/** Takes out a field of v1beta1, as which some objects are still stored; the name of the node moves to where it belongs. */
export function dropTopology(next: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined && deepEquals(withoutEmpty(next["endpoints"]), withoutEmpty(old["endpoints"]))) return;
  const known = new Set(
    old === undefined ? [] : each(old, "endpoints").map((one) => inner(one, "deprecatedTopology")[hostname]),
  );
  for (const endpoint of each(next, "endpoints")) {
    const node = inner(endpoint, "deprecatedTopology")[hostname];
    delete endpoint["deprecatedTopology"];
    if (typeof node === "string" && node !== "" && endpoint["nodeName"] === undefined && known.has(node))
      endpoint["nodeName"] = node;
  }
}

function endpoints(list: Field, type: string): void {
  if (list.items.length > mostEndpoints) return list.tooMany(mostEndpoints);
  for (const endpoint of list.items) {
    const addresses = endpoint.at("addresses");
    if (addresses.empty) addresses.required("must contain at least 1 address");
    else if (addresses.items.length > mostAddresses) addresses.tooMany(mostAddresses);
    for (const address of addresses.items) checkAddress(address, addresses, type);
    if (endpoint.at("nodeName").present) endpoint.at("nodeName").matches(dnsSubdomain);
    const topology = endpoint.at("deprecatedTopology");
    if (topology.keys.length > mostTopology)
      topology.add("TooMany", `must have at most ${mostTopology} items`, topology.keys.length);
    validateLabels(topology);
    if (endpoint.at("hostname").present) endpoint.at("hostname").matches(dnsLabel);
    hints(endpoint.at("hints").at("forZones"), (name) => labelValue(name));
    hints(endpoint.at("hints").at("forNodes"), (name) => dnsSubdomain(name));
  }
}

function checkAddress(address: Field, list: Field, type: string): void {
  const { text } = address;
  if (type === "FQDN") return domain(address);
  if (type !== "IPv4" && type !== "IPv6") return;
  const usual = canonicalAddress(text);
  const isUnusual = type === "IPv6" && usual !== undefined && usual !== text;
  const problem =
    addressProblem(text) ?? (isUnusual ? `must be in canonical form (${JSON.stringify(usual)})` : undefined);
  if (problem !== undefined) return address.invalid(problem, text);
  if (`IPv${isIP(text)}` !== type) list.invalid(`must be an ${type} address`, text);
  const why = unreachable(text);
  if (why !== undefined) address.invalid(why, text);
}

function domain(address: Field): void {
  if (address.text === "") return address.required();
  const name = address.text.replace(/\.$/, "");
  const wrong = dnsSubdomain(name);
  if (wrong.length > 0) return address.invalid(wrong.join(","), name);
  const labels = name.split(".");
  if (labels.length < 2)
    return address.invalid("should be a domain with at least two segments separated by dots", name);
  const odd = labels.find((label) => dnsLabel(label).length > 0);
  if (odd !== undefined) address.invalid(dnsLabel(odd).join(","), odd);
}

function hints(list: Field, format: (name: string) => readonly string[]): void {
  if (list.items.length > mostHints) return list.tooMany(mostHints);
  const names = new Set<string>();
  for (const hint of list.items) {
    const name = hint.at("name");
    if (names.has(name.text)) name.duplicate(name.text);
    names.add(name.text);
    for (const detail of format(name.text)) name.invalid(detail, name.text);
  }
}

function ports(list: Field): void {
  if (list.items.length > mostPorts) return list.tooMany(mostPorts);
  const names = new Set<string>();
  for (const port of list.items) {
    const name = port.at("name");
    if (name.text !== "") name.matches(dnsLabel);
    if (names.has(name.text)) name.duplicate(name.text);
    names.add(name.text);
    const protocol = port.at("protocol");
    if (!protocol.present) protocol.required();
    else protocol.oneOf(["SCTP", "TCP", "UDP"]);
    if (port.at("appProtocol").present) port.at("appProtocol").matches(qualifiedName);
  }
}
