/** Validates kinds of storage. */
import { deepEquals } from "#platform/equality";
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsSubdomain, qualifiedName } from "../formats.ts";
import { isNegative } from "../quantities.ts";
import { driverName } from "../core/volume-sources.ts";
import type { RuleTable } from "../rules.ts";
import { labelSelector, topologySelectorTerm } from "../selector-rules.ts";

function provisioner(field: Field): void {
  if (field.text === "") return field.required();
  for (const detail of qualifiedName(field.text.toLowerCase())) field.invalid(detail, field.text.toLowerCase());
}

function topologies(terms: Field): void {
  // The real server also compares each term with as many empty ones as there are terms.
  const seen = terms.items.map(() => "");
  for (const term of terms.items) {
    topologySelectorTerm(term);
    const said = topologyText(term);
    for (const other of seen) if (other === said) term.at("matchLabelExpressions").duplicate("");
    seen.push(said);
  }
}

/** Returns keys and their values in a canonical order. */
function topologyText(term: Field): string {
  const byKey = new Map<string, Set<string>>();
  for (const expression of term.at("matchLabelExpressions").items) {
    const values = expression.at("values").items.map(({ text }) => text);
    byKey.set(expression.at("key").text, new Set(values));
  }
  if (byKey.size === 0) return "";
  return JSON.stringify(
    [...byKey]
      .map(([key, values]) => [key, [...values].toSorted()])
      .toSorted(([one], [other]) => (one! < other! ? -1 : 1)),
  );
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
    const id = driver.at("nodeID");
    if (id.require() && Buffer.byteLength(id.text) > 256) id.invalid("must be 256 characters or less");
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
      else if (inline.present && name.present)
        spec.at("source").forbidden("must specify exactly one of inlineVolumeSpec and persistentVolumeName");
      else if (name.present && name.text === "") name.required("must specify non empty persistentVolumeName");
      if (name.present) name.matches(dnsSubdomain);
      spec.at("nodeName").matches(dnsSubdomain);
      if (old === undefined) return;
      const [next, before] = [object.at("spec").fields, inner(old, "spec")];
      if (deepEquals(next, before)) return;
      object.at("spec").invalid("field is immutable");
    },
    status: (object) => {
      for (const name of ["attachError", "detachError"]) {
        const code = object.at("status").at(name).at("errorCode");
        if (code.number < 0) code.invalid("must be between 0 and 2147483647, inclusive");
      }
    },
  },
  "storage.k8s.io/VolumeAttributesClass": {
    check: (object) => {
      provisioner(object.at("driverName"));
      const parameters = object.at("parameters");
      if (parameters.empty) parameters.required("must contain at least one key/value pair");
    },
    updateFirst: true,
    update: (object, old) => {
      if (object.at("driverName").text !== old["driverName"])
        object.at("driverName").forbidden("updates to driverName are forbidden.");
      if (!deepEquals(object.fields["parameters"], old["parameters"]))
        object.at("parameters").forbidden("updates to parameters are forbidden.");
    },
  },
  "storage.k8s.io/CSIDriver": {
    // The feature is disabled.
    prepare: (object) => void delete inner(object, "spec")["preventPodSchedulingIfMissing"],
    prepareUpdate: (next) => void delete inner(next, "spec")["preventPodSchedulingIfMissing"],
    check: (object) => csiDriver(object),
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
        if (now === undefined || deepEquals(comparable(now.fields), comparable({ ...driver }))) continue;
        object.at("spec").at("drivers").invalid("field is immutable");
      }
    },
  },
  "storage.k8s.io/CSIStorageCapacity": {
    check: (object) => {
      if (object.at("nodeTopology").present) labelSelector(object.at("nodeTopology"));
      object.at("storageClassName").matches(dnsSubdomain);
      const size = object.at("capacity");
      if (size.present && isNegative(size.value))
        size.invalid("must be greater than or equal to 0", String(size.value));
    },
    update: (object, old) => {
      object.at("nodeTopology").immutable(old["nodeTopology"]);
      object.at("storageClassName").immutable(old["storageClassName"]);
    },
  },
};

function comparable(driver: Readonly<Record<string, unknown>>): unknown {
  const { name, nodeID, topologyKeys } = driver;
  return { name, nodeID, topologyKeys: topologyKeys ?? null };
}
