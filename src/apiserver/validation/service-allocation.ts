/** What of a service cannot be had: addresses and ports that others hold or that are out of range. */
import { each, inner } from "./fill.ts";
import type { Field } from "./field.ts";
import type { RuleContext } from "./rules.ts";

const [firstNodePort, lastNodePort] = [30_000, 32_767];
const range = /^10\.96\.\d{1,3}\.\d{1,3}$/;

/** Of a service that is right otherwise. */
export function allocationCheck(object: Field, { write, object: next, old }: RuleContext): void {
  const spec = object.at("spec");
  if (spec.at("type").text === "ExternalName") return;
  if (spec.at("ipFamilyPolicy").text === "RequireDualStack")
    return spec.at("ipFamilyPolicy").invalid("this cluster is not configured for dual-stack services");
  for (const family of spec.at("ipFamilies").items)
    if (family.text === "IPv6") return family.invalid("not configured on this cluster");
  const before = old === undefined ? {} : inner(old, "spec");
  const others = write.reader
    .list({ group: "", plural: "services" })
    .filter(({ metadata }) => metadata.uid !== next.metadata.uid)
    .map((other) => inner(other, "spec"));
  const addresses = spec.at("clusterIPs");
  const held = new Set(others.flatMap((other) => (other["clusterIPs"] ?? []) as string[]));
  const kept = new Set((before["clusterIPs"] ?? []) as string[]);
  for (const { text } of addresses.items) {
    if (text === "None" || kept.has(text)) continue;
    const failed = `failed to allocate IP ${text}`;
    if (!range.test(text)) return addresses.invalid(`${failed}: the provided network does not match the current range`);
    if (held.has(text)) return addresses.invalid(`${failed}: provided IP is already allocated`);
  }
  if (write.dryRun) return;
  const taken = new Set(others.flatMap((other) => each(other, "ports").map(({ nodePort }) => nodePort)));
  const own = new Set(each(before, "ports").map(({ nodePort }) => nodePort));
  for (const port of spec.at("ports").items) {
    const node = port.at("nodePort");
    if (node.number === 0 || own.has(node.number)) continue;
    if (node.number < firstNodePort || node.number > lastNodePort)
      return node.invalid(
        `provided port is not in the valid range. The range of valid ports is ${firstNodePort}-${lastNodePort}`,
      );
    if (taken.has(node.number)) return node.invalid("provided port is already allocated");
  }
}
