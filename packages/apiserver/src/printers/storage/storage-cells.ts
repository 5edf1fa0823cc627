/** The table columns of kinds of the storage group. */
import { type Cell, at, count, get, list, name, sinceCreation } from "../cell.ts";

export const storageCells: Readonly<Record<string, readonly Cell[]>> = {
  "storage.k8s.io/CSIDriver": [
    name,
    at("spec.attachRequired", true),
    at("spec.podInfoOnMount", false),
    at("spec.storageCapacity", false),
    (driver) =>
      list(driver, "spec.tokenRequests")
        .map(({ audience }) => String(audience))
        .join(",") || "<unset>",
    at("spec.requiresRepublish", false),
    (driver) => ((get(driver, "spec.volumeLifecycleModes") ?? []) as string[]).join(",") || "<none>",
    sinceCreation,
  ],
  "storage.k8s.io/CSINode": [name, count("spec.drivers"), sinceCreation],
  "storage.k8s.io/StorageClass": [
    ({ metadata }) =>
      metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true"
        ? `${metadata.name} (default)`
        : (metadata.name ?? ""),
    at("provisioner"),
    at("reclaimPolicy", "Delete"),
    at("volumeBindingMode", "Immediate"),
    at("allowVolumeExpansion", false),
    sinceCreation,
  ],
  "storage.k8s.io/VolumeAttachment": [
    name,
    at("spec.attacher"),
    at("spec.source.persistentVolumeName"),
    at("spec.nodeName"),
    at("status.attached", false),
    sinceCreation,
  ],
  "storage.k8s.io/VolumeAttributesClass": [name, at("driverName"), sinceCreation],
};
