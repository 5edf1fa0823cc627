/** Warns of fields of services that have no effect, or soon will have none. */
import { goQuoted } from "../../field-error.ts";
import type { KubeObject } from "../../hooks.ts";
import { inner } from "../../validation/fill.ts";
import { addressWarnings, rangeWarnings } from "../addresses.ts";

const hints = "service.kubernetes.io/topology-aware-hints";

export function serviceWarnings(service: KubeObject): string[] {
  const warnings: string[] = [];
  const spec = inner(service, "spec");
  const list = (name: string): string[] => (spec[name] ?? []) as string[];
  const text = (name: string): string => String(spec[name] ?? "");
  const isName = spec["type"] === "ExternalName";
  const isHeadless = spec["type"] === "ClusterIP" && spec["clusterIP"] === "None";
  const external = list("externalIPs");
  if (service.metadata.annotations?.[hints] !== undefined)
    warnings.push(`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`);
  if (text("clusterIP") !== "" && !isHeadless)
    for (const [index, ip] of list("clusterIPs").entries())
      warnings.push(...addressWarnings(`spec.clusterIPs[${index}]`, ip));
  if (isHeadless) {
    if (text("loadBalancerIP") !== "") warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (external.length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec["sessionAffinity"] !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  for (const [index, ip] of external.entries()) warnings.push(...addressWarnings(`spec.externalIPs[${index}]`, ip));
  if (external.length > 0 && !isHeadless && !isName)
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  if (text("loadBalancerIP") !== "") warnings.push(...addressWarnings("spec.loadBalancerIP", text("loadBalancerIP")));
  for (const [index, range] of list("loadBalancerSourceRanges").entries())
    warnings.push(...rangeWarnings(`spec.loadBalancerSourceRanges[${index}]`, range));
  if (isName && external.length > 0) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && text("externalName") !== "")
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec["trafficDistribution"] === "PreferClose")
    warnings.push(`spec.trafficDistribution: ${goQuoted("PreferClose")} is deprecated; use "PreferSameZone"`);
  return warnings;
}
