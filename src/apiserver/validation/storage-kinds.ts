/** Rules of storage. */
import type { Field } from "./field.ts";
import { inner } from "./fill.ts";
import { dnsSubdomain, qualifiedName } from "./formats.ts";
import { isNegative } from "./quantities.ts";
import { driverName } from "./volume-sources.ts";
import type { RuleTable } from "./rules.ts";
import { labelSelector, topologySelectorTerm } from "./selector-rules.ts";

function provisioner(field: Field): void {
  if (field.text === "") return field.required();
  for (const detail of qualifiedName(field.text.toLowerCase())) field.invalid(detail, field.text.toLowerCase());
}

function topologies(terms: Field): void {
  const seen: string[] = [];
  for (const term of terms.items) {
    topologySelectorTerm(term);
    const said = JSON.stringify(term.fields["matchLabelExpressions"] ?? []);
    if (seen.includes(said) || term.at("matchLabelExpressions").empty) term.at("matchLabelExpressions").duplicate("");
    seen.push(said);
  }
}

function csiDriver(object: Field): void {
  const spec = object.at("spec");
  for (const name of ["attachRequired", "podInfoOnMount", "storageCapacity"])
    if (!spec.at(name).present) spec.at(name).required();
  const policy = spec.at("fsGroupPolicy");
  if (policy.present) policy.oneOf(["File", "None", "ReadWriteOnceWithFSType"]);
  const audiences = new Set<string>();
  for (const request of spec.at("tokenRequests").items) {
    const audience = request.at("audience");
    if (audiences.has(audience.text)) audience.duplicate(audience.text);
    audiences.add(audience.text);
    const lifetime = request.at("expirationSeconds");
    if (!lifetime.present) continue;
    if (lifetime.number < 600) lifetime.invalid("may not specify a duration less than 10 minutes", lifetime.number);
    if (lifetime.number > 2 ** 32)
      lifetime.invalid("may not specify a duration larger than 2^32 seconds", lifetime.number);
  }
  const period = spec.at("nodeAllocatableUpdatePeriodSeconds");
  if (period.present && period.number < 10)
    period.invalid("must be greater than or equal to 10 seconds", period.number);
  const modes = spec.at("volumeLifecycleModes");
  for (const mode of modes.items) {
    if (mode.text !== "Persistent" && mode.text !== "Ephemeral")
      modes.with(mode.text).oneOf(["Persistent", "Ephemeral"], { sorted: false });
  }
}

function csiNode(object: Field): void {
  const names = new Set<string>();
  for (const driver of object.at("spec").at("drivers").items) {
    const name = driver.at("name");
    driverName(name);
    driver.at("nodeID").require();
    driver.at("allocatable").at("count").nonNegative();
    if (name.text !== "" && names.has(name.text)) name.duplicate();
    names.add(name.text);
    const keys = new Set<string>();
    for (const { text } of driver.at("topologyKeys").items) {
      if (keys.has(text)) driver.duplicate(text);
      keys.add(text);
      if (text === "") driver.required();
      driver.with(text).matches(qualifiedName);
    }
  }
}

export const storageKinds: RuleTable = {
  "storage.k8s.io/StorageClass": {
    check: (object) => {
      provisioner(object.at("provisioner"));
      for (const name of object.at("parameters").keys)
        if (name === "") object.at("parameters").invalid("field can not be empty.", name);
      if (object.at("reclaimPolicy").text !== "") object.at("reclaimPolicy").oneOf(["Delete", "Retain"]);
      const mode = object.at("volumeBindingMode");
      if (!mode.present) mode.required();
      else mode.oneOf(["Immediate", "WaitForFirstConsumer"]);
      topologies(object.at("allowedTopologies"));
    },
    update: (object, old) => {
      for (const name of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"])
        object.at(name).immutable(old[name]);
    },
  },
  "storage.k8s.io/VolumeAttachment": {
    check: (object, { old }) => {
      const spec = object.at("spec");
      driverName(spec.at("attacher"));
      const [inline, name] = [spec.at("source").at("inlineVolumeSpec"), spec.at("source").at("persistentVolumeName")];
      if (!inline.present && !name.present)
        spec.at("source").required("must specify exactly one of inlineVolumeSpec and persistentVolumeName");
      else if (name.present) {
        if (name.text === "") name.required("must specify non empty persistentVolumeName");
        name.matches(dnsSubdomain);
      }
      spec.at("nodeName").matches(dnsSubdomain);
      if (old === undefined) return;
      const [next, before] = [object.at("spec").fields, inner(old, "spec")];
      if (Bun.deepEquals(next, before)) return;
      const source = inner(next, "source");
      object.at("spec").addStruct("Invalid", "field is immutable", {
        Attacher: next["attacher"] ?? "",
        Source: {
          PersistentVolumeName: source["persistentVolumeName"] ?? null,
          InlineVolumeSpec: source["inlineVolumeSpec"] ?? null,
        },
        NodeName: next["nodeName"] ?? "",
      });
    },
  },
  "storage.k8s.io/VolumeAttributesClass": {
    check: (object) => {
      provisioner(object.at("driverName"));
      const parameters = object.at("parameters");
      if (parameters.empty) parameters.required("must contain at least one key/value pair");
    },
    checkNewOnly: true,
    update: (object, old) => {
      if (object.at("driverName").text !== old["driverName"])
        object.at("driverName").forbidden("updates to driverName are forbidden.");
      if (!Bun.deepEquals(object.fields["parameters"], old["parameters"]))
        object.at("parameters").forbidden("updates to parameters are forbidden.");
    },
  },
  "storage.k8s.io/CSIDriver": {
    check: (object, { write, old }) => {
      csiDriver(object);
      const spec = object.at("spec");
      if (old !== undefined || object.errors.length > 0) return;
      if (!spec.at("tokenRequests").empty && !spec.at("serviceAccountTokenInSecrets").present) {
        write.warn(
          "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes",
        );
      }
    },
    update: (object, old) => {
      const before = inner(old, "spec");
      const spec = object.at("spec");
      spec.at("attachedRequired").with(spec.fields["attachRequired"]).immutable(before["attachRequired"]);
      spec.at("volumeLifecycleModes").immutable(before["volumeLifecycleModes"]);
    },
  },
  "storage.k8s.io/CSINode": {
    check: (object, { old }) => {
      csiNode(object);
      if (old === undefined) return;
      const before = (inner(old, "spec")["drivers"] ?? []) as {
        name: string;
        nodeID: string;
        topologyKeys?: string[];
        allocatable?: unknown;
      }[];
      for (const driver of before) {
        const now = object
          .at("spec")
          .at("drivers")
          .items.find((one) => one.at("name").text === driver.name);
        if (now === undefined || Bun.deepEquals(comparable(now.fields), comparable({ ...driver }))) continue;
        const { name = "", nodeID = "", topologyKeys = null } = now.fields;
        object.at("spec").at("drivers").addStruct("Invalid", "field is immutable", {
          Name: name,
          NodeID: nodeID,
          TopologyKeys: topologyKeys,
          Allocatable: null,
        });
      }
    },
  },
  "storage.k8s.io/CSIStorageCapacity": {
    check: (object) => {
      for (const name of ["capacity", "maximumVolumeSize"]) {
        const size = object.at(name);
        if (size.present && isNegative(size.value))
          size.invalid("must be greater than or equal to 0", String(size.value));
      }
      if (object.at("nodeTopology").present) labelSelector(object.at("nodeTopology"));
      object.at("storageClassName").matches(dnsSubdomain);
    },
    update: (object, old) => {
      object.at("nodeTopology").immutable(old["nodeTopology"]);
      object.at("storageClassName").immutable(old["storageClassName"]);
    },
  },
};

function comparable(driver: Readonly<Record<string, unknown>>): unknown {
  const { name, nodeID, topologyKeys, allocatable } = driver;
  return { name, nodeID, topologyKeys: topologyKeys ?? null, allocatable: allocatable ?? null };
}
