/** Validates the resources of a whole pod against those of its containers. */
import { containerResources } from "../../admission/pod-resources.ts";
import { formatQuantity } from "../../schema/quantity.ts";
import type { Field } from "../field.ts";
import { qualifiedName } from "../formats.ts";
import { quantityOrder } from "../quantities.ts";
import { requirements } from "./resource-rules.ts";

const supported = /^(cpu|memory)$|^hugepages-/;

/** @see https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#pod-level-resource-specification */
export function podResources(spec: Field): void {
  const own = spec.at("resources");
  if (spec.at("os").at("name").text === "windows") return own.forbidden("may not be set for a windows pod");
  if (own.at("claims").present) own.at("claims").forbidden("claims may not be set for Resources at pod-level");
  requirements(own, (entry) => {
    if (!entry.matches(qualifiedName)) return;
    if (!entry.text.includes("/") && !/^[a-z.-]+$|^hugepages-/.test(entry.text))
      entry.invalid("must be a standard resource type or fully qualified", entry.text);
    else if (!supported.test(entry.text)) entry.oneOf(["cpu", "hugepages-", "memory"]);
  });
  const requests = containerResources(spec.fields, "requests");
  for (const name of own.at("requests").keys) {
    const [entry, sum] = [own.at("requests").key(name), requests.get(name)];
    const needed = sum && formatQuantity(sum);
    if (needed !== undefined && quantityOrder(needed, entry.value) > 0)
      entry.invalid(`must be greater than or equal to aggregate container requests of ${needed}`, String(entry.value));
  }
  for (const [index, container] of spec.at("containers").items.entries()) {
    const limits = container.at("resources").at("limits");
    for (const name of limits.keys) {
      const whole = own.at("limits").fields[name];
      if (whole === undefined || quantityOrder(limits.fields[name], whole) <= 0) continue;
      own
        .at(`containers[${index}][${name}].limits`)
        .invalid(`must be less than or equal to pod limits of ${String(whole)}`, String(limits.fields[name]));
    }
  }
}
