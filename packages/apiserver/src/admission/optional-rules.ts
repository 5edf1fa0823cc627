/** AlwaysPullImages and DenyServiceExternalIPs. @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/ */
import type { Fields, KubeObject } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";

const containerLists = ["initContainers", "containers", "ephemeralContainers"];

export const alwaysPullImages: Plugin = {
  name: "AlwaysPullImages",
  resources: ["/pods"],
  mutate({ context, object }) {
    if ((context.subresource !== "" && context.subresource !== "ephemeralcontainers") || object === undefined) return;
    const spec = inner(object, "spec");
    for (const container of containerLists.flatMap((name) => each(spec, name))) container["imagePullPolicy"] = "Always";
  },
};

export const denyExternalAddresses: Plugin = {
  name: "DenyServiceExternalIPs",
  resources: ["/services"],
  validate(attributes) {
    const { context, object, oldObject } = attributes;
    if (context.subresource !== "" || object === undefined) return;
    const before = new Set(externalAddresses(oldObject));
    if (externalAddresses(object).every((address) => before.has(address))) return;
    throw refusal(attributes, "Use of external IPs is denied by admission control");
  },
};

function externalAddresses(service: KubeObject | undefined): readonly unknown[] {
  const spec: Fields = service === undefined ? {} : inner(service, "spec");
  return (spec["externalIPs"] ?? []) as readonly unknown[];
}
