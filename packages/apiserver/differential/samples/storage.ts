import { type Samples, selector } from "./sample.ts";

export const storage: Samples = {
  "storage.k8s.io/CSIDriver": {
    minimal: { spec: {} },
    full: {
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        fsGroupPolicy: "File",
        volumeLifecycleModes: ["Ephemeral"],
        tokenRequests: [{ audience: "a" }],
      },
    },
    changes: [{ spec: { attachRequired: false } }],
  },
  "storage.k8s.io/CSINode": {
    minimal: { spec: { drivers: [{ name: "d.test", nodeID: "n", topologyKeys: null }] } },
    changes: [{ spec: { drivers: [] } }],
  },
  "storage.k8s.io/CSIStorageCapacity": {
    minimal: { storageClassName: "c" },
    full: { storageClassName: "c", capacity: "1Gi", maximumVolumeSize: "512Mi", nodeTopology: selector },
    changes: [{ storageClassName: "d" }, { capacity: "2Gi" }],
  },
  "storage.k8s.io/StorageClass": {
    minimal: { provisioner: "example.test/p" },
    full: {
      provisioner: "example.test/p",
      parameters: { a: "b" },
      reclaimPolicy: "Retain",
      allowVolumeExpansion: true,
      mountOptions: ["ro"],
      volumeBindingMode: "WaitForFirstConsumer",
      allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a"] }] }],
    },
    changes: [
      { provisioner: "q" },
      { reclaimPolicy: "Retain" },
      { volumeBindingMode: "Nope" },
      { allowVolumeExpansion: true },
      { parameters: { x: "y" } },
    ],
  },
  "storage.k8s.io/VolumeAttachment": {
    minimal: { spec: { attacher: "a.test", nodeName: "n", source: { persistentVolumeName: "p" } } },
    changes: [{ spec: { nodeName: "m" } }, { spec: { attacher: "" } }],
    status: { attached: true },
  },
  "storage.k8s.io/VolumeAttributesClass": {
    minimal: { driverName: "d.test", parameters: { a: "b" } },
    changes: [{ driverName: "e.test" }, { parameters: { a: "c" } }],
  },
};
