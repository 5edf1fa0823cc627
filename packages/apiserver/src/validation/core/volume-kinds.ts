/** Validates persistent volumes and claims. */
import type { Fields } from "../../hooks.ts";
import { claimSpec, modesOf } from "./claim-rules.ts";
import type { Field } from "../field.ts";
import { fill, inner } from "../fill.ts";
import { dnsSubdomain, qualifiedName } from "../formats.ts";
import { differingPlaces, isSameStored } from "../stored-values.ts";
import { isNegative, quantityNumber, quantityOrder } from "../quantities.ts";
import type { RuleContext, Rules, RuleTable } from "../rules.ts";
import { nodeSelector } from "../selector-rules.ts";

function volumeSpec(object: Field): void {
  const spec = object.at("spec");
  const modes = spec.at("accessModes");
  modes.require();
  modesOf(modes);
  capacityOf(spec.at("capacity"));
  const policy = spec.at("persistentVolumeReclaimPolicy");
  if (policy.text !== "") policy.oneOf(["Delete", "Recycle", "Retain"]);
  const affinity = spec.at("nodeAffinity");
  if (affinity.present) {
    if (!affinity.at("required").present) affinity.at("required").required("must specify required node constraints");
    else nodeSelector(affinity.at("required"));
  }
  persistentSource(spec);
  if (/^\/+(\.\/*)*$/.test(spec.at("hostPath").at("path").text) && policy.text === "Recycle")
    policy.forbidden("may not be 'recycle' for a hostPath mount of '/'");
  if (spec.at("storageClassName").text !== "") spec.at("storageClassName").matches(dnsSubdomain);
  if (spec.at("volumeMode").present) spec.at("volumeMode").oneOf(["Block", "Filesystem"]);
  const attributes = spec.at("volumeAttributesClassName");
  if (!attributes.present) return;
  if (attributes.text === "") attributes.required("an empty string is disallowed");
  else attributes.matches(dnsSubdomain);
  if (!spec.at("csi").present) spec.at("csi").required("has to be specified when using volumeAttributesClassName");
}

/** Rejects a negative quantity. */
function basicResource(entry: Field): boolean {
  if (!isNegative(entry.value)) return true;
  // Go rounds to whole numbers away from 0.
  entry.invalid("must be a valid resource quantity", Math.floor(quantityNumber(entry.value)));
  return false;
}

function capacityOf(capacity: Field): void {
  capacity.require();
  if (!capacity.at("storage").present || capacity.keys.length > 1)
    capacity.add("NotSupported", 'supported values: "storage"', capacity.value ?? null);
  for (const name of capacity.keys) {
    const entry = capacity.key(name);
    const amount = String(entry.value);
    basicResource(entry);
    if (quantityOrder(entry.value, "0") <= 0) entry.invalid("must be greater than zero", amount);
  }
}

/** The names of the volume sources. */
const persistentSources =
  "gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi".split(
    " ",
  );

/** Validates the source of a volume. Further rules are those of each volume plugin. */
function persistentSource(spec: Field): void {
  const [source, other] = persistentSources.filter((name) => spec.at(name).present);
  if (source === undefined) return spec.required("must specify a volume type");
  if (other !== undefined) spec.at(other).forbidden("may not specify more than 1 volume type");
  if (source === "csi") for (const name of ["driver", "volumeHandle"]) spec.at("csi").at(name).require();
  if (source !== "local") return;
  spec.at("local").at("path").require();
  if (!spec.at("nodeAffinity").at("required").present)
    spec.at("nodeAffinity").required("Local volume requires node affinity");
}

function volumeUpdate(object: Field, old: Fields, { write: { row } }: RuleContext): void {
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  const sources = (fields: Fields): Fields =>
    Object.fromEntries(persistentSources.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
  const [next, earlier] = [sources(structuredClone(spec.fields)), sources(before)];
  const csi = inner(next, "csi");
  if (earlier["csi"] !== undefined && inner(earlier, "csi")["controllerExpandSecretRef"] === undefined)
    delete csi["controllerExpandSecretRef"];
  if (!isSameStored({ row, path: "spec" }, next, earlier)) {
    const places = differingPlaces(earlier, next);
    spec.at("persistentvolumesource").forbidden(`spec.persistentvolumesource is immutable after creation\n${places}`);
  }
  object.at("volumeMode").with(spec.fields["volumeMode"]).immutable(before["volumeMode"]);
  const affinity = object.at("nodeAffinity").with(spec.fields["nodeAffinity"]);
  if (
    before["nodeAffinity"] !== undefined &&
    !isSameStored({ row, path: "spec.nodeAffinity" }, affinity.value, before["nodeAffinity"])
  )
    affinity.invalid("field is immutable, except for updating from beta label to GA");
  if (before["volumeAttributesClassName"] !== undefined && !spec.at("volumeAttributesClassName").present)
    spec.at("volumeAttributesClassName").forbidden("update from non-nil value to nil is forbidden");
}

/** The kinds of volumes that are mounted with options. */
const mounted =
  "gcePersistentDisk awsElasticBlockStore glusterfs nfs rbd quobyte iscsi cinder cephfs azureFile vsphereVolume azureDisk photonPersistentDisk".split(
    " ",
  );

function mountOptions(object: Field): void {
  const annotation = object.at("metadata").at("annotations").at("volume.beta.kubernetes.io/mount-options");
  if (annotation.value === undefined || mounted.some((source) => object.at("spec").at(source).present)) return;
  annotation.forbidden("may not specify mount options for this volume type");
}

const volume: Rules = {
  prepare: (object, { now }) => void (object["status"] = { phase: "Pending", lastPhaseTransitionTime: now }),
  prepareUpdate: (next, old, { now }) => {
    const [status, before] = [inner(next, "status"), inner(old, "status")];
    if (status["phase"] !== before["phase"]) fill(status, { lastPhaseTransitionTime: now });
    else if (before["lastPhaseTransitionTime"] !== undefined) fill(status, before);
  },
  check: (object, { old }) => {
    volumeSpec(object);
    if (old === undefined) mountOptions(object);
  },
  update: (object, old, context) => {
    mountOptions(object);
    volumeUpdate(object, old, context);
  },
};

/** Whether the source is one that was always allowed; other sources used to be dropped silently. */
function isOldSource(source: Fields): boolean {
  const group = source["apiGroup"] ?? "";
  return (
    (source["kind"] === "PersistentVolumeClaim" && group === "") ||
    (source["kind"] === "VolumeSnapshot" && group === "snapshot.storage.k8s.io")
  );
}

/** Copies a source to the other of its two fields, unless both are set. */
function sameSources(spec: Fields, before: Fields): void {
  if (inner(spec, "dataSourceRef")["namespace"] && before["dataSourceRef"] === undefined) delete spec["dataSourceRef"];
  const [source, reference] = [spec["dataSource"], spec["dataSourceRef"]];
  const wasThere = before["dataSource"] !== undefined || before["dataSourceRef"] !== undefined;
  if (source !== undefined && reference === undefined && !wasThere && !isOldSource(inner(spec, "dataSource"))) {
    delete spec["dataSource"];
    return;
  }
  if (source !== undefined) fill(spec, { dataSourceRef: source });
  else if (reference !== undefined && !inner(spec, "dataSourceRef")["namespace"]) {
    const { namespace: _, ...rest } = inner(spec, "dataSourceRef");
    fill(spec, { dataSource: rest });
  }
}

const classAnnotation = "volume.beta.kubernetes.io/storage-class";

/** A class in an annotation may only move to the field. */
function classMoves(object: Field, old: Fields): void {
  const before = inner(inner(old, "metadata"), "annotations")[classAnnotation];
  const annotation = object.at("metadata").at("annotations").at(classAnnotation);
  const isMoved =
    before !== undefined &&
    inner(old, "spec")["storageClassName"] === undefined &&
    object.at("spec").at("storageClassName").value === before &&
    (annotation.value === undefined || annotation.value === before);
  if (!isMoved && (before ?? "") !== annotation.text) annotation.invalid("field is immutable", annotation.text);
}

function claimUpdate(object: Field, old: Fields, { write: { row } }: RuleContext): void {
  classMoves(object, old);
  const spec = object.at("spec");
  const [next, before] = [{ ...spec.fields }, { ...inner(old, "spec") }];
  const isBound = inner(object.fields, "status")["phase"] === "Bound";
  if (!before["volumeName"] && next["volumeName"] !== undefined) before["volumeName"] = next["volumeName"];
  if (before["storageClassName"] === undefined && next["storageClassName"] !== undefined)
    delete next["storageClassName"];
  if (isBound) {
    const requests = { ...inner(inner(next, "resources"), "requests") };
    requests["storage"] = inner(inner(before, "resources"), "requests")["storage"];
    next["resources"] = { ...inner(next, "resources"), requests };
    next["volumeAttributesClassName"] = before["volumeAttributesClassName"];
  }
  if (!isSameStored({ row, path: "spec" }, next, before)) {
    const places = differingPlaces(before, next);
    spec.forbidden(
      `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${places}`,
    );
  }
  const size = (fields: Fields): unknown => inner(inner(fields, "resources"), "requests")["storage"] ?? "0";
  const capacity = inner(inner(old, "status"), "capacity")["storage"] ?? "0";
  const now = size(spec.fields);
  if (quantityOrder(now, size(inner(old, "spec"))) < 0 && quantityOrder(now, capacity) <= 0)
    spec.at("resources").at("requests").at("storage").forbidden("field can not be less than status.capacity");
  object.at("volumeMode").with(spec.fields["volumeMode"]).immutable(inner(old, "spec")["volumeMode"]);
}

const resizes = ["ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizePending"];
const allResizes = [...resizes, "NodeResizeInProgress", "NodeResizeInfeasible"].toSorted();

function claimStatus(object: Field): void {
  const status = object.at("status");
  for (const name of status.at("capacity").keys) basicResource(status.at("capacity").key(name));
  const states = status.at("allocatedResourceStatuses");
  for (const name of states.keys) {
    claimResource(states, name);
    if (!allResizes.includes(String(states.fields[name]))) states.with(name).oneOf(allResizes);
  }
  const allocated = status.at("allocatedResources");
  for (const name of allocated.keys) if (claimResource(allocated, name)) basicResource(allocated.key(name));
}

function claimResource(place: Field, name: string): boolean {
  if (name === "storage") return true;
  const field = place.with(name);
  if (!field.matches(qualifiedName)) return false;
  if (!name.includes("/")) {
    field.oneOf(["storage"]);
    return false;
  }
  if (!/^([^/]*\.)?(kubernetes|k8s)\.io\//.test(name)) return true;
  field.oneOf(["storage"]);
  return false;
}

const claim: Rules = {
  prepare: (object) => {
    object["status"] = { phase: "Pending" };
    sameSources(inner(object, "spec"), {});
  },
  prepareUpdate: (next, old, { subresource }) => {
    if (subresource === "") sameSources(inner(next, "spec"), inner(old, "spec"));
  },
  check: (object) => claimSpec(object.at("spec")),
  update: claimUpdate,
  status: claimStatus,
};

export const volumeKinds: RuleTable = { "/PersistentVolume": volume, "/PersistentVolumeClaim": claim };
