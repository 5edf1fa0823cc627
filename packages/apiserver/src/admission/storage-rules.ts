/** StorageObjectInUseProtection and PersistentVolumeClaimResize. */
import type { KubeObject } from "../hooks.ts";
import { inner } from "../validation/fill.ts";
import { quantityOrder } from "../validation/quantities.ts";
import { type Plugin, refusal } from "./plugin.ts";

const finalizers: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: "kubernetes.io/pvc-protection",
  PersistentVolume: "kubernetes.io/pv-protection",
  VolumeAttributesClass: "kubernetes.io/vac-protection",
};

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection */
export const inUseProtection: Plugin = {
  name: "StorageObjectInUseProtection",
  resources: ["/persistentvolumeclaims", "/persistentvolumes", "storage.k8s.io/volumeattributesclasses"],
  mutate({ context, object }) {
    const finalizer = finalizers[context.row.kind];
    if (context.operation !== "CREATE" || context.subresource !== "" || !object || !finalizer) return;
    const { metadata } = object;
    if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  },
};

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims */
export const claimResize: Plugin = {
  name: "PersistentVolumeClaimResize",
  resources: ["/persistentvolumeclaims"],
  validate(attributes) {
    const { context, object, oldObject } = attributes;
    if (context.operation !== "UPDATE" || context.subresource !== "" || !object || !oldObject) return;
    const size = (claim: KubeObject): unknown => inner(inner(inner(claim, "spec"), "resources"), "requests")["storage"];
    if (quantityOrder(size(object) ?? "0", size(oldObject) ?? "0") <= 0) return;
    if (inner(oldObject, "status")["phase"] !== "Bound") {
      throw refusal(attributes, "Only bound persistent volume claims can be expanded");
    }
    const [name, before] = [classOf(object), classOf(oldObject)];
    const storageClass = name && context.reader.get({ group: "storage.k8s.io", plural: "storageclasses" }, { name });
    if (storageClass && name === before && storageClass["allowVolumeExpansion"] === true) return;
    const why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must";
    throw refusal(attributes, `${why} support resize`);
  },
};

export function classOf(claim: KubeObject): string {
  const annotation = claim.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"];
  return annotation ?? String(inner(claim, "spec")["storageClassName"] ?? "");
}
