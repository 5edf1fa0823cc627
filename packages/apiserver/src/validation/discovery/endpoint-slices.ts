/** Validates endpoint slices. */
import { deepEquals } from "#platform/equality";
import type { KubeObject } from "../../hooks.ts";
import { type Field, withoutEmpty } from "../field.ts";
import { each, inner } from "../fill.ts";

/** Validates a slice. @param old the slice before the update, whose address type must stay */
export function endpointSlice(object: Field, old: KubeObject | undefined): void {
  const type = object.at("addressType");
  type.requireOneOf(["FQDN", "IPv4", "IPv6"]);
  if (old !== undefined && old["addressType"] !== type.text) type.with(type.text).immutable(old["addressType"]);
}

const hostname = "kubernetes.io/hostname";

/**
 * Moves the node name from the old field of v1beta1, which some stored objects still have, to its present field, and
 * drops the old one.
 */
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
