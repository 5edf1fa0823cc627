/** Validates kinds of storage. */
import { deepEquals } from "#platform/equality";
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsSubdomain, qualifiedName } from "../formats.ts";
import type { RuleTable } from "../rules.ts";

function provisioner(field: Field): void {
  if (field.text === "") return field.required();
  for (const detail of qualifiedName(field.text.toLowerCase())) field.invalid(detail, field.text.toLowerCase());
}

export const storageKinds: RuleTable = {
  "storage.k8s.io/StorageClass": {
    check: (object) => {
      provisioner(object.at("provisioner"));
      if (object.at("reclaimPolicy").text !== "") object.at("reclaimPolicy").oneOf(["Delete", "Retain"]);
      object.at("volumeBindingMode").requireOneOf(["Immediate", "WaitForFirstConsumer"]);
    },
    update: (object, old) => {
      for (const name of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"])
        object.at(name).immutable(old[name]);
    },
  },
  "storage.k8s.io/VolumeAttachment": {
    check: (object, { old }) => {
      const spec = object.at("spec");
      spec.at("attacher").require();
      spec.at("nodeName").matches(dnsSubdomain);
      if (old !== undefined && !deepEquals(spec.fields, inner(old, "spec"))) spec.invalid("field is immutable");
    },
  },
  "storage.k8s.io/VolumeAttributesClass": {
    check: (object) => {
      provisioner(object.at("driverName"));
      object.at("parameters").require("must contain at least one key/value pair");
    },
    updateFirst: true,
    update: (object, old) => {
      for (const name of ["driverName", "parameters"])
        if (!deepEquals(object.fields[name], old[name])) object.at(name).forbidden(`updates to ${name} are forbidden.`);
    },
  },
  "storage.k8s.io/CSIDriver": {
    // The feature is disabled.
    prepare: (object) => void delete inner(object, "spec")["preventPodSchedulingIfMissing"],
    prepareUpdate: (next) => void delete inner(next, "spec")["preventPodSchedulingIfMissing"],
    update: (object, old) => {
      const before = inner(old, "spec");
      const spec = object.at("spec");
      spec.at("attachedRequired").with(spec.fields["attachRequired"]).immutable(before["attachRequired"]);
      spec.at("volumeLifecycleModes").immutable(before["volumeLifecycleModes"]);
    },
  },
  "storage.k8s.io/CSIStorageCapacity": {
    check: (object) => object.at("storageClassName").matches(dnsSubdomain),
    update: (object, old) => {
      object.at("nodeTopology").immutable(old["nodeTopology"]);
      object.at("storageClassName").immutable(old["storageClassName"]);
    },
  },
};
