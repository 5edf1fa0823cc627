/** Prepares new pods, and decides which of their fields may change. */
import { deepEquals } from "#platform/equality";
import type { Fields, KubeObject, WriteContext } from "../../hooks.ts";
import { profileOf } from "../../warnings/core/pod-warnings.ts";
import { each, has, inner } from "../fill.ts";
import { type Field, withoutEmpty } from "../field.ts";
import { changedAnnotations, matchingProfiles, podAnnotations } from "./pod-annotations.ts";
import { ephemeralUpdate, resizeUpdate } from "./pod-paths.ts";
import { podOnly, podSpec, podTemplate } from "./pod-rules.ts";
import { podStatus } from "./pod-status.ts";
import { differingPlaces, isSameStored } from "../stored-values.ts";
import { quantityOrder } from "../quantities.ts";
import { tolerations } from "./scheduling-rules.ts";
import type { RuleContext, Rules, RuleTable } from "../rules.ts";

const frozen =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const pod: Rules = {
  prepare: prepared,
  check: (object, { old }) => {
    const spec = object.at("spec");
    const annotations = object.at("metadata").at("annotations");
    podAnnotations(annotations, spec);
    podSpec(spec, { name: object.at("metadata").at("name").text, isPod: true });
    podOnly(spec);
    if (old !== undefined) return;
    if (!spec.at("ephemeralContainers").empty) spec.at("ephemeralContainers").forbidden("cannot be set on create");
    if (spec.at("nodeName").text !== "" && !spec.at("schedulingGates").empty)
      spec.at("nodeName").forbidden("cannot be set until all schedulingGates have been cleared");
    matchingProfiles(annotations.fields, spec);
  },
  status: podStatus,
  update: podUpdate,
  prepareUpdate: (next, old) => {
    forceGrace(inner(next, "spec"));
    // The feature is disabled.
    delete inner(next, "status")["nodeAllocatableResourceClaimStatuses"];
    if (next["status"] === undefined && old["status"] !== undefined) next["status"] = old["status"];
    const status = inner(next, "status");
    const { qosClass } = inner(old, "status");
    if (!status["qosClass"] && qosClass !== undefined) status["qosClass"] = qosClass;
  },
  selectable: {
    "spec.nodeName": (object) => String(inner(object, "spec")["nodeName"] ?? ""),
    "spec.restartPolicy": (object) => String(inner(object, "spec")["restartPolicy"] ?? ""),
    "spec.schedulerName": (object) => String(inner(object, "spec")["schedulerName"] ?? ""),
    "spec.serviceAccountName": (object) => String(inner(object, "spec")["serviceAccountName"] ?? ""),
    "spec.hostNetwork": (object) => String(inner(object, "spec")["hostNetwork"] ?? false),
    "status.phase": (object) => String(inner(object, "status")["phase"] ?? ""),
    "status.podIP": (object) => String(inner(object, "status")["podIP"] ?? ""),
    // This field may be selected but is never set.
    "status.podIPs": () => "",
    "status.nominatedNodeName": (object) => String(inner(object, "status")["nominatedNodeName"] ?? ""),
  },
};

export const podKinds: RuleTable = {
  "/Pod": pod,
  "/PodTemplate": { check: (object) => podTemplate(object.at("template")) },
};

const appArmor = "container.apparmor.security.beta.kubernetes.io/";

/** Copies a profile that an annotation names into the container's field. */
function profiles({ metadata, spec = {} }: KubeObject & { spec?: Fields }, write: WriteContext): void {
  if (inner(spec, "os")["name"] === "windows") return;
  for (const container of [...each(spec, "initContainers"), ...each(spec, "containers")]) {
    const name = `${appArmor}${String(container["name"])}`;
    const annotation = metadata.annotations?.[name];
    if (annotation === undefined || has(inner(container, "securityContext"), "appArmorProfile")) continue;
    const profile = profileOf(annotation);
    const path = String(profile?.["localhostProfile"] ?? "x");
    const isValid = profile !== undefined && path.trim() === path && path.length <= 4095;
    const isSame = isValid && deepEquals(profile, inner(spec, "securityContext")["appArmorProfile"]);
    if (isValid && !isSame)
      container["securityContext"] = { ...inner(container, "securityContext"), appArmorProfile: profile };
    if (!isSame)
      write.warn(`metadata.annotations[${name}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}

function prepared(object: KubeObject, context: WriteContext): void {
  const spec = inner(object, "spec");
  forceGrace(spec);
  object["status"] = {
    phase: "Pending",
    ...(each(spec, "schedulingGates").length > 0 && { conditions: [gatedCondition()] }),
    qosClass: qualityOfService(spec),
  };
  profiles(object, context);
}

/** A negative grace period means an immediate deletion. */
function forceGrace(spec: Fields): void {
  if (Number(spec["terminationGracePeriodSeconds"]) < 0) spec["terminationGracePeriodSeconds"] = 1;
}

function gatedCondition(): Fields {
  return {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
}

function isSome(amount: unknown): boolean {
  return amount !== undefined && amount !== null && quantityOrder(amount, "0") > 0;
}

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ */
function qualityOfService(spec: Fields): string {
  let isGuaranteed = true;
  let isBestEffort = true;
  const whole = has(spec, "resources") ? [spec] : [...each(spec, "containers"), ...each(spec, "initContainers")];
  for (const container of whole) {
    const resources = inner(container, "resources");
    const [limits, requests] = [inner(resources, "limits"), inner(resources, "requests")];
    for (const name of ["cpu", "memory"]) {
      if (isSome(limits[name]) || isSome(requests[name])) isBestEffort = false;
      if (!isSome(limits[name]) || quantityOrder(limits[name], requests[name] ?? limits[name]) !== 0)
        isGuaranteed = false;
    }
  }
  return isBestEffort ? "BestEffort" : isGuaranteed ? "Guaranteed" : "Burstable";
}

const gateless = "only deletion is allowed, but found new scheduling gate";

function podUpdate(object: Field, old: Fields, { write: { row, subresource } }: RuleContext): void {
  if (subresource === "ephemeralcontainers") return ephemeralUpdate(object, old);
  if (subresource === "resize") return resizeUpdate(object, old, qualityOfService);
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  const annotations = object.at("metadata").at("annotations");
  changedAnnotations(annotations, inner(inner(old, "metadata"), "annotations"));
  podAnnotations(annotations, spec);
  for (const name of ["containers", "initContainers"]) {
    if (spec.at(name).items.length !== each(before, name).length) {
      spec.at(name).forbidden("pod updates may not add or remove containers");
      return;
    }
    for (const container of spec.at(name).items) {
      const image = container.at("image");
      image.require();
      if (image.text !== image.text.trim()) image.invalid("must not have leading or trailing whitespace");
    }
  }
  const deadline = spec.at("activeDeadlineSeconds");
  const earlier = before["activeDeadlineSeconds"] as number | undefined;
  if (deadline.present) {
    const errors = spec.errors.length;
    deadline.inRange(0, 2147483647);
    if (spec.errors.length > errors) return;
    if (earlier !== undefined && deadline.number > earlier)
      return deadline.invalid("must be less than or equal to previous value");
  } else if (earlier !== undefined) deadline.invalid("must not update from a positive integer to nil value", null);
  addedTolerations(spec.at("tolerations"), each(before, "tolerations"));
  const gates = new Set(each(before, "schedulingGates").map(({ name }) => name));
  for (const gate of spec.at("schedulingGates").items) {
    const name = gate.at("name");
    if (!gates.has(name.text)) name.forbidden(`${gateless} '${name.text}'`);
  }
  const next = munged(spec, before);
  // While a pod has scheduling gates, its node selection can be narrowed.
  if (gates.size > 0) {
    const selector = spec.at("nodeSelector");
    if (Object.entries(inner(before, "nodeSelector")).some(([key, value]) => selector.fields[key] !== value))
      selector.invalid("only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    if (before["nodeSelector"] === undefined) delete next["nodeSelector"];
    else next["nodeSelector"] = before["nodeSelector"];
  }
  if (!isSameStored({ row, path: "spec" }, next, before)) spec.forbidden(`${frozen}\n${differingPlaces(before, next)}`);
}

function addedTolerations(list: Field, before: readonly Fields[]): void {
  const timeless = (fields: Fields): Fields => ({ ...fields, tolerationSeconds: undefined });
  const now = list.items.map(({ fields }) => timeless(fields));
  for (const one of before) {
    if (!now.some((each) => isSame(each, timeless(one))))
      return list.forbidden("existing toleration can not be modified except its tolerationSeconds");
  }
  tolerations(list);
}

/** Returns the spec with all mutable fields reset to their old values. */
function munged(spec: Field, before: Fields): Fields {
  const next = structuredClone(spec.fields);
  for (const name of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) {
    if (before[name] === undefined) delete next[name];
    else next[name] = before[name];
  }
  if (Number(before["terminationGracePeriodSeconds"]) < 0 && next["terminationGracePeriodSeconds"] === 1)
    next["terminationGracePeriodSeconds"] = before["terminationGracePeriodSeconds"];
  for (const name of ["containers", "initContainers"]) {
    for (const [index, container] of each(next, name).entries())
      container["image"] = each(before, name)[index]?.["image"];
  }
  return next;
}

function isSame(one: unknown, other: unknown): boolean {
  return deepEquals(withoutEmpty(one), withoutEmpty(other));
}

/** Removes fields of disabled features in place. */
export function dropUnavailable(spec: Fields): void {
  if (has(spec, "schedulingGroup")) delete spec["schedulingGroup"];
  for (const list of ["containers", "initContainers"]) {
    for (const container of each(spec, list)) {
      const lifecycle = inner(container, "lifecycle");
      if (!has(lifecycle, "stopSignal")) continue;
      delete lifecycle["stopSignal"];
      if (!has(lifecycle, "postStart") && !has(lifecycle, "preStop")) delete container["lifecycle"];
    }
  }
  for (const volume of each(spec, "volumes")) {
    for (const source of each(inner(volume, "projected"), "sources")) {
      delete source["clusterTrustBundle"];
      delete source["podCertificate"];
    }
  }
}
