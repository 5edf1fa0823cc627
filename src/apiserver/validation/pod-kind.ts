/** What a pod is given when it is made, and which of it may change. */
import type { Fields, KubeObject } from "../hooks.ts";
import { each, inner } from "./fill.ts";
import type { Field } from "./field.ts";
import { podSpec, podTemplate } from "./pod-rules.ts";
import { quantityOrder } from "./quantities.ts";
import type { Rules, RuleTable } from "./rules.ts";

const frozen =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const pod: Rules = {
  checkNewOnly: true,
  prepare: prepared,
  check: (object) => podSpec(object.at("spec"), { name: object.at("metadata").at("name").text }),
  update: podUpdate,
  prepareUpdate: (next, old) => {
    if (next["status"] === undefined && old["status"] !== undefined) next["status"] = old["status"];
  },
  selectable: {
    "spec.nodeName": (object) => String(inner(object, "spec")["nodeName"] ?? ""),
    "spec.restartPolicy": (object) => String(inner(object, "spec")["restartPolicy"] ?? ""),
    "spec.schedulerName": (object) => String(inner(object, "spec")["schedulerName"] ?? ""),
    "spec.serviceAccountName": (object) => String(inner(object, "spec")["serviceAccountName"] ?? ""),
    "spec.hostNetwork": (object) => String(inner(object, "spec")["hostNetwork"] ?? false),
    "status.phase": (object) => String(inner(object, "status")["phase"] ?? ""),
    "status.podIP": (object) => String(inner(object, "status")["podIP"] ?? ""),
    "status.nominatedNodeName": (object) => String(inner(object, "status")["nominatedNodeName"] ?? ""),
  },
};

export const podKinds: RuleTable = {
  "/Pod": pod,
  "/PodTemplate": { check: (object) => podTemplate(object.at("template")) },
};

function prepared(object: KubeObject): void {
  const spec = inner(object, "spec");
  // What is below zero came to mean at once.
  if (Number(spec["terminationGracePeriodSeconds"]) < 0) spec["terminationGracePeriodSeconds"] = 1;
  object["status"] = { phase: "Pending", qosClass: qualityOfService(inner(object, "spec")) };
}

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ */
function qualityOfService(spec: Fields): string {
  let isGuaranteed = true;
  let isBestEffort = true;
  for (const container of [...each(spec, "containers"), ...each(spec, "initContainers")]) {
    const resources = inner(container, "resources");
    const [limits, requests] = [inner(resources, "limits"), inner(resources, "requests")];
    for (const name of ["cpu", "memory"]) {
      if (limits[name] !== undefined || requests[name] !== undefined) isBestEffort = false;
      if (limits[name] === undefined || quantityOrder(limits[name], requests[name] ?? limits[name]) !== 0)
        isGuaranteed = false;
    }
  }
  return isBestEffort ? "BestEffort" : isGuaranteed ? "Guaranteed" : "Burstable";
}

function podUpdate(object: Field, old: Fields): void {
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  for (const name of ["containers", "initContainers"]) {
    if (spec.at(name).items.length === each(before, name).length) continue;
    spec.at(name).forbidden("pod updates may not add or remove containers");
    return;
  }
  for (const name of ["containers", "initContainers"]) {
    for (const container of spec.at(name).items) {
      const image = container.at("image");
      if (image.require() && image.text !== image.text.trim())
        image.invalid("must not have leading or trailing whitespace");
    }
  }
  const deadline = spec.at("activeDeadlineSeconds");
  const earlier = before["activeDeadlineSeconds"] as number | undefined;
  if (deadline.present) {
    deadline.inRange(0, 2147483647);
    if (earlier !== undefined && deadline.number > earlier)
      deadline.invalid("must be less than or equal to previous value");
  } else if (earlier !== undefined) deadline.invalid("must not update from a positive integer to nil value", earlier);
  if (spec.errors.length > 0) return;
  const allowed = structuredClone(spec.fields);
  for (const name of ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"]) {
    if (before[name] === undefined) delete allowed[name];
    else if (name !== "terminationGracePeriodSeconds") allowed[name] = before[name];
  }
  for (const name of ["containers", "initContainers"]) {
    for (const [index, container] of each(allowed, name).entries())
      container["image"] = each(before, name)[index]?.["image"];
  }
  if (!Bun.deepEquals(allowed, before)) spec.forbidden(frozen);
}
