/** The table columns of kinds of the apps group. */
import type { KubeObject } from "../../hooks.ts";
import { type Cell, at, containers, get, labels, name, selector, sinceCreation } from "../cell.ts";

const template = containers("spec.template.spec");

function ready(object: KubeObject): string {
  return `${String(get(object, "status.readyReplicas") ?? 0)}/${String(get(object, "spec.replicas") ?? 0)}`;
}

function scaled(selectorCell: Cell): readonly Cell[] {
  const counts = [at("spec.replicas", 0), at("status.replicas", 0), at("status.readyReplicas", 0)];
  return [name, ...counts, sinceCreation, ...template, selectorCell];
}

function owner({ metadata }: KubeObject): string {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller === undefined) return "<none>";
  const [group] = controller.apiVersion.includes("/") ? controller.apiVersion.split("/") : [""];
  return `${controller.kind.toLowerCase()}${group ? `.${group}` : ""}/${controller.name}`;
}

export const appsCells: Readonly<Record<string, readonly Cell[]>> = {
  "apps/ControllerRevision": [name, owner, at("revision", 0), sinceCreation],
  "apps/DaemonSet": [
    name,
    at("status.desiredNumberScheduled", 0),
    at("status.currentNumberScheduled", 0),
    at("status.numberReady", 0),
    at("status.updatedNumberScheduled", 0),
    at("status.numberAvailable", 0),
    labels("spec.template.spec.nodeSelector"),
    sinceCreation,
    ...template,
    selector("spec.selector"),
  ],
  "apps/Deployment": [
    name,
    ready,
    at("status.updatedReplicas", 0),
    at("status.availableReplicas", 0),
    sinceCreation,
    ...template,
    (deployment) => (get(deployment, "spec.selector") ? selector("spec.selector")(deployment, 0) : ""),
  ],
  "apps/ReplicaSet": scaled(selector("spec.selector")),
  "apps/StatefulSet": [name, ready, sinceCreation, ...template],
};
