/** DefaultStorageClass and DefaultIngressClass: an object that names no class gets the youngest of the default classes. */
import type { KubeObject, Reader, ResourceName } from "../hooks.ts";
import { inner } from "../validation/fill.ts";
import type { Plugin } from "./plugin.ts";

/** @see https://kubernetes.io/docs/concepts/storage/dynamic-provisioning/#defaulting-behavior */
export const defaultStorageClass: Plugin = {
  name: "DefaultStorageClass",
  resources: ["/persistentvolumeclaims"],
  mutate({ context, object }) {
    if (context.operation !== "CREATE" || context.subresource !== "" || object === undefined) return;
    const spec = inner(object, "spec");
    const annotation = "volume.beta.kubernetes.io/storage-class";
    if (spec["storageClassName"] !== undefined || object.metadata.annotations?.[annotation] !== undefined) return;
    const chosen = youngestDefault(context.reader, { group: "storage.k8s.io", plural: "storageclasses" }, [
      "storageclass.kubernetes.io/is-default-class",
      "storageclass.beta.kubernetes.io/is-default-class",
    ]);
    if (chosen !== undefined) spec["storageClassName"] = chosen;
  },
};

/** @see https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class */
export const defaultIngressClass: Plugin = {
  name: "DefaultIngressClass",
  resources: ["networking.k8s.io/ingresses"],
  mutate({ context, object }) {
    if (context.operation !== "CREATE" || context.subresource !== "" || object === undefined) return;
    const spec = inner(object, "spec");
    const annotation = "kubernetes.io/ingress.class";
    if (spec["ingressClassName"] !== undefined || object.metadata.annotations?.[annotation] !== undefined) return;
    const resource = { group: "networking.k8s.io", plural: "ingressclasses" };
    const chosen = youngestDefault(context.reader, resource, ["ingressclass.kubernetes.io/is-default-class"]);
    if (chosen !== undefined) object["spec"] = { ...spec, ingressClassName: chosen };
  },
};

function youngestDefault(reader: Reader, resource: ResourceName, marks: readonly string[]): string | undefined {
  const isDefault = ({ metadata }: KubeObject): boolean =>
    marks.some((mark) => metadata.annotations?.[mark] === "true");
  const order = ({ metadata }: KubeObject, other: KubeObject): number => {
    const [one, two] = [metadata.creationTimestamp ?? "", other.metadata.creationTimestamp ?? ""];
    if (one !== two) return one < two ? 1 : -1;
    return (metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1;
  };
  return reader.list(resource).filter(isDefault).toSorted(order)[0]?.metadata.name;
}
