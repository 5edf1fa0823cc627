/** Determines the IP families of a service, in a cluster that has only IPv4 addresses. */
import { isIP } from "node:net";
import { deepEquals } from "#platform/equality";
import type { FieldError } from "../../field-error.ts";
import type { Fields } from "../../hooks.ts";
import { has } from "../fill.ts";
import { Field } from "../field.ts";
import { clusterAddresses } from "./service-rules.ts";

/** Completes the fields of a service. @returns the errors of its present fields */
export function initFamilies(spec: Fields, old: Fields | undefined): FieldError[] {
  if (spec["type"] === "ExternalName" || (old !== undefined && isStillPreferring(spec, old))) return [];
  const isSelectorless = spec["clusterIP"] === "None" && Object.keys(spec["selector"] ?? {}).length === 0;
  if (!has(spec, "ipFamilyPolicy"))
    spec["ipFamilyPolicy"] = old?.["ipFamilyPolicy"] ?? (isSelectorless ? "RequireDualStack" : "SingleStack");
  const field = new Field("spec", spec, { errors: [], row: { group: "", version: "v1", kind: "Service" } });
  clusterAddresses(field, spec["clusterIP"] === "None");
  if (field.errors.length > 0) return field.errors;
  const policy = field.at("ipFamilyPolicy");
  if (old !== undefined) followPolicy(spec, old, policy);
  const addresses = listOf(spec, "clusterIPs");
  if (policy.text === "SingleStack") {
    const needed = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    if (addresses.length === 2) policy.invalid(`${needed} cluster IPs are specified`);
    if (listOf(spec, "ipFamilies").length === 2) policy.invalid(`${needed} IP families are specified`);
  }
  for (const [index, address] of addresses.entries()) {
    if (address === "None") break;
    if (index < listOf(spec, "ipFamilies").length) continue;
    if (isIP(address) === 4) spec["ipFamilies"] = [...listOf(spec, "ipFamilies"), "IPv4"];
    else field.at(`clusterIPs[${index}]`).invalid("IPv6 is not configured on this cluster", addresses);
  }
  if (field.errors.length > 0) return field.errors;
  if (isSelectorless) {
    const families = listOf(spec, "ipFamilies").length === 0 ? ["IPv4"] : listOf(spec, "ipFamilies");
    const isDual = families.length < 2 && spec["ipFamilyPolicy"] !== "SingleStack";
    spec["ipFamilies"] = isDual ? [...families, families[0] === "IPv4" ? "IPv6" : "IPv4"] : families;
    return [];
  }
  if (policy.text === "RequireDualStack") policy.invalid("this cluster is not configured for dual-stack services");
  for (const family of field.at("ipFamilies").items)
    if (family.text !== "IPv4") family.invalid("not configured on this cluster", family.text);
  if (listOf(spec, "ipFamilies").length === 0) spec["ipFamilies"] = ["IPv4"];
  return field.errors;
}

function listOf(spec: Fields, name: string): string[] {
  return (spec[name] ?? []) as string[];
}

function isStillPreferring(spec: Fields, old: Fields): boolean {
  return (
    spec["ipFamilyPolicy"] === "PreferDualStack" &&
    (old["ipFamilyPolicy"] ?? "PreferDualStack") === "PreferDualStack" &&
    spec["type"] === old["type"] &&
    isSame(spec, old, "clusterIPs") &&
    isSame(spec, old, "ipFamilies")
  );
}

function isSame(spec: Fields, old: Fields, name: string): boolean {
  return deepEquals(listOf(spec, name), listOf(old, name));
}

/** Reduces a service to one IP family, only if its policy asks for that. */
function followPolicy(spec: Fields, old: Fields, policy: Field): void {
  for (const [name, what] of [
    ["clusterIPs", "the secondary cluster IP"],
    ["ipFamilies", "the secondary IP family"],
  ] as const) {
    const [now, before] = [listOf(spec, name), listOf(old, name)];
    if (policy.text === "SingleStack") {
      if (isSame(spec, old, name) && now.length > 1) spec[name] = now.slice(0, 1);
    } else if (now.length > 0 && now.length < before.length) {
      policy.invalid(`must be 'SingleStack' to release ${what}`);
    }
  }
}
