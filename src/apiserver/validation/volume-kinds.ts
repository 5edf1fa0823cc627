/** Rules of persistent volumes and of claims on them. */
import { accessModes, claimSpec } from "./claim-rules.ts";
import { fill, inner } from "./fill.ts";
import { dnsSubdomain } from "./formats.ts";
import { quantityOrder } from "./quantities.ts";
import type { Rules, RuleTable } from "./rules.ts";
import { nodeSelector } from "./selector-rules.ts";

const volumeSources = [
  "hostPath",
  "csi",
  "nfs",
  "local",
  "iscsi",
  "fc",
  "rbd",
  "cephfs",
  "glusterfs",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cinder",
  "flexVolume",
  "flocker",
  "photonPersistentDisk",
  "portworxVolume",
  "quobyte",
  "scaleIO",
  "storageos",
  "vsphereVolume",
];

const volume: Rules = {
  checksTwice: true,
  prepare: (object, { now }) => void (object["status"] = { phase: "Pending", lastPhaseTransitionTime: now }),
  prepareUpdate: (next, old, { now }) => {
    const [status, before] = [inner(next, "status"), inner(old, "status")];
    if (status["phase"] !== before["phase"]) fill(status, { lastPhaseTransitionTime: now });
    else if (before["lastPhaseTransitionTime"] !== undefined) fill(status, before);
  },
  check: (object) => {
    const spec = object.at("spec");
    const modes = spec.at("accessModes");
    if (modes.empty) modes.required();
    for (const mode of modes.items) if (!accessModes.includes(mode.text)) modes.with(mode.text).oneOf(accessModes);
    const capacity = spec.at("capacity");
    if (capacity.empty) capacity.required();
    if (!capacity.at("storage").present || capacity.keys.length > 1) {
      capacity.add("NotSupported", 'supported values: "storage"', capacity.value ?? null);
    }
    const storage = capacity.key("storage");
    if (storage.present && quantityOrder(storage.value, "0") <= 0)
      storage.invalid("must be greater than zero", String(storage.value));
    const policy = spec.at("persistentVolumeReclaimPolicy");
    if (policy.text !== "") policy.oneOf(["Delete", "Recycle", "Retain"]);
    const affinity = spec.at("nodeAffinity");
    if (affinity.present) {
      if (!affinity.at("required").present) affinity.at("required").required("must specify required node constraints");
      else nodeSelector(affinity.at("required"));
    }
    const given = volumeSources.filter((name) => spec.at(name).present);
    for (const name of given.slice(1)) spec.at(name).forbidden("may not specify more than 1 volume type");
    if (given.length === 0) spec.required("must specify a volume type");
    const source = spec.at(given[0] ?? "");
    if (given[0] === "hostPath") source.at("path").require();
    if (given[0] === "csi") {
      if (source.at("driver").require()) source.at("driver").matches(dnsSubdomain);
      source.at("volumeHandle").require();
    }
    if (spec.at("storageClassName").text !== "") spec.at("storageClassName").matches(dnsSubdomain);
    if (spec.at("volumeMode").present) spec.at("volumeMode").oneOf(["Block", "Filesystem"]);
  },
  update: (object, old) => {
    const before = inner(old, "spec");
    for (const name of volumeSources) {
      if (before[name] === undefined || Bun.deepEquals(object.at("spec").fields[name], before[name])) continue;
      object
        .at("spec")
        .at("persistentvolumesource")
        .forbidden("spec.persistentvolumesource is immutable after creation");
    }
    object.at("volumeMode").with(object.at("spec").fields["volumeMode"]).immutable(before["volumeMode"]);
  },
};

const claim: Rules = {
  checkNewOnly: false,
  prepare: (object) => {
    object["status"] = { phase: "Pending" };
    const spec = inner(object, "spec");
    if (spec["dataSource"] !== undefined) fill(spec, { dataSourceRef: spec["dataSource"] });
  },
  check: (object) => claimSpec(object.at("spec")),
  update: (object, old) => {
    const [next, before] = [{ ...object.at("spec").fields }, { ...inner(old, "spec") }];
    const isBound = inner(old, "status")["phase"] === "Bound";
    if (!before["volumeName"]) before["volumeName"] = next["volumeName"];
    if (isBound) {
      next["resources"] = { ...inner(next, "resources"), requests: inner(before, "resources")["requests"] };
      next["volumeAttributesClassName"] = before["volumeAttributesClassName"];
    }
    const same = JSON.stringify(sorted(next)) === JSON.stringify(sorted(before));
    if (!same)
      object
        .at("spec")
        .forbidden(
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        );
  },
};

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  );
}

export const volumeKinds: RuleTable = { "/PersistentVolume": volume, "/PersistentVolumeClaim": claim };
