/** The table columns of kinds of the networking group. */
import type { Fields, KubeObject } from "../../hooks.ts";
import { type Cell, at, get, list, name, selector, sinceCreation } from "../cell.ts";
import { balancers } from "../core/core-cells.ts";

function hosts(ingress: KubeObject): string {
  const rules = list(ingress, "spec.rules");
  const named = rules.slice(0, 3).flatMap(({ host }) => (host ? [String(host)] : []));
  if (named.length === 0) return "*";
  return rules.length > 3 ? `${named.join(",")} + ${rules.length - 3} more...` : named.join(",");
}

function ingressParameters(ingressClass: KubeObject): string {
  const parameters = get(ingressClass, "spec.parameters") as Fields | undefined;
  if (!parameters) return "<none>";
  const group = parameters["apiGroup"] ? `.${String(parameters["apiGroup"])}` : "";
  return `${String(parameters["kind"])}${group}/${String(parameters["name"])}`;
}

function parent(ip: KubeObject): string {
  if (get(ip, "spec.parentRef") === undefined) return "<none>";
  const { group, resource, namespace, name: called } = (get(ip, "spec.parentRef") ?? {}) as Fields;
  const qualified = group ? `${String(resource)}.${String(group)}` : String(resource ?? "");
  return namespace ? `${qualified}/${String(namespace)}/${String(called)}` : `${qualified}/${String(called)}`;
}

export const networkingCells: Readonly<Record<string, readonly Cell[]>> = {
  "networking.k8s.io/IngressClass": [name, at("spec.controller"), ingressParameters, sinceCreation],
  "networking.k8s.io/Ingress": [
    name,
    at("spec.ingressClassName", "<none>"),
    hosts,
    (ingress) => balancers(ingress).join(","),
    (ingress) => (list(ingress, "spec.tls").length > 0 ? "80, 443" : "80"),
    sinceCreation,
  ],
  "networking.k8s.io/IPAddress": [name, parent, sinceCreation],
  "networking.k8s.io/NetworkPolicy": [name, selector("spec.podSelector"), sinceCreation],
  "networking.k8s.io/ServiceCIDR": [
    name,
    (range) => ((get(range, "spec.cidrs") ?? []) as string[]).join(","),
    sinceCreation,
  ],
};
