/** PodResizeValidator: refuses to resize a pod beyond what its node can allocate. */
import type { Fields } from "../hooks.ts";
import type { Quantity } from "../schema/quantity.ts";
import { StatusError } from "../status.ts";
import { inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";
import { podResources } from "./pod-resources.ts";
import { resourceList, zero } from "./resource-list.ts";

export const podResize: Plugin = {
  name: "PodResizeValidator",
  resources: ["/pods"],
  validate(attributes) {
    const { context, object, oldObject } = attributes;
    if (context.operation !== "UPDATE" || context.subresource !== "resize" || !object || !oldObject) return;
    const spec = inner(object, "spec");
    const name = String(spec["nodeName"] ?? "");
    // A resize that changes nothing is not checked against the node.
    if (name === "" || object.metadata.generation === oldObject.metadata.generation) return;
    const node = context.reader.get({ group: "", plural: "nodes" }, { name });
    if (node === undefined) throw refusal(attributes, `node ${JSON.stringify(name)} not found`);
    const system = node.metadata.labels?.["kubernetes.io/os"] ?? "linux";
    if (system !== "linux") {
      const why = `pod resize is only supported on linux nodes, node ${JSON.stringify(name)} is ${JSON.stringify(system)}`;
      throw withCause(refusal(attributes, why), "UnsupportedPlatform");
    }
    const missing = excess(spec, inner(inner(node, "status"), "allocatable"));
    if (missing.length === 0) return;
    const why = `node didn't have enough allocatable resources: ${missing.join("; ")}`;
    throw withCause(refusal(attributes, why), "NodeCapacity");
  },
};

/** Describes the requests that exceed the allocatable resources, in millicores and bytes. */
function excess(spec: Fields, allocatable: Fields): string[] {
  const [asked, there] = [podResources(spec, "requests", { overhead: true }), resourceList(allocatable)];
  const units = { cpu: 1_000_000n, memory: 1_000_000_000n };
  return Object.entries(units).flatMap(([name, unit]) => {
    const [wanted, found] = [asked.get(name) ?? zero, there.get(name) ?? zero];
    if (wanted.nanos <= found.nanos) return [];
    return [`${name}, requested: ${inUnits(wanted, unit)}, allocatable: ${inUnits(found, unit)}`];
  });
}

function inUnits({ nanos }: Quantity, unit: bigint): bigint {
  return (nanos + unit - 1n) / unit;
}

function withCause({ status }: StatusError, reason: string): StatusError {
  const { code, message = "", details } = status;
  const causes = [...(details?.causes ?? []), { reason }];
  return new StatusError(code, status.reason ?? "", { message, details: { ...details, causes } });
}
