/** Validates changes through `pods/ephemeralcontainers` and `pods/resize`. */
import { deepEquals } from "#platform/equality";
import type { Fields } from "../../hooks.ts";
import { differingPlaces } from "../stored-values.ts";
import { type Field, withoutEmpty } from "../field.ts";
import { each, inner } from "../fill.ts";

/** Debug containers can be added, but neither changed nor removed. */
export function ephemeralUpdate(object: Field, old: Fields): void {
  const list = object.at("spec").at("ephemeralContainers");
  const next = each(object.at("spec").fields, "ephemeralContainers");
  for (const before of each(inner(old, "spec"), "ephemeralContainers")) {
    const name = JSON.stringify(before["name"]);
    const after = next.find((one) => one["name"] === before["name"]);
    if (after === undefined) list.forbidden(`existing ephemeral containers ${name} may not be removed\n`);
    else if (!deepEquals(after, before)) {
      const change = `existing ephemeral containers ${name} may not be changed`;
      list.forbidden(`${change}\n${differingPlaces(before, after)}`);
    }
  }
}

/** Validates a resize. @param quality returns the quality of service of a pod's spec */
export function resizeUpdate(object: Field, old: Fields, quality: (spec: Fields) => string): void {
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  const refusal = unsizable(old, before);
  if (refusal !== undefined) {
    // A pod of this kind gets only this error.
    object.errors.length = 0;
    return object.forbidden(refusal);
  }
  if (quality(spec.fields) !== quality(before))
    spec.with(inner(old, "status")["qosClass"]).invalid("Pod QOS Class may not change as a result of resizing");
  const runs = each(inner(old, "status"), "containerStatuses").find((one) => inner(one, "state")["running"]);
  if (runs !== undefined && runs["resources"] === undefined)
    spec.forbidden("Pod running on node without support for resize");
  podLevel(spec, before);
  const isSame = ["containers", "initContainers"].map((name) =>
    sameContainers(spec.at(name), name, each(before, name)),
  );
  if (isSame.includes(false)) return;
  for (const name of ["initContainers", "containers"]) {
    for (const [index, container] of spec.at(name).items.entries())
      removed(container.at("resources"), inner(each(before, name)[index] ?? {}, "resources"), "resource");
  }
  for (const [index, container] of spec.at("containers").items.entries()) {
    if (!isSameBut(container.fields, each(before, "containers")[index] ?? {}))
      spec.forbidden("only cpu and memory resources are mutable");
  }
  for (const [index, container] of spec.at("initContainers").items.entries()) {
    const earlier = each(before, "initContainers")[index] ?? {};
    if (!isSameBut(container.fields, earlier))
      container.forbidden("only cpu and memory resources for init or sidecar containers are mutable");
    if (container.at("restartPolicy").text === "Always" || isEqual(container.fields, earlier)) continue;
    for (const policy of container.at("resizePolicy").items) {
      if (policy.at("restartPolicy").text === "RestartContainer")
        container.forbidden("non-sidecar init containers with a resize policy of RestartContainer cannot be resized");
    }
  }
}

/** Returns why a pod cannot be resized at all; `undefined` when it can. */
function unsizable(old: Fields, spec: Fields): string | undefined {
  const annotations = inner(inner(old, "metadata"), "annotations");
  if (annotations["kubernetes.io/config.mirror"] !== undefined) return "static pods cannot be resized";
  return inner(spec, "os")["name"] === "windows" ? "windows pods cannot be resized" : undefined;
}

/** Validates the resources of the whole pod. */
function podLevel(spec: Field, before: Fields): void {
  const [field, earlier] = [spec.at("resources"), inner(before, "resources")];
  if (!field.present) {
    if (before["resources"] !== undefined) field.forbidden("pod-level resources cannot be removed");
    return;
  }
  if (before["resources"] !== undefined) removed(field, earlier, "pod-level resource");
  if (!isEqual(withoutChange(field.fields, earlier), earlier))
    spec.forbidden("only cpu and memory resources are mutable at pod-level");
}

function isSameBut(container: Fields, before: Fields): boolean {
  const { limits, requests } = withoutChange(inner(container, "resources"), inner(before, "resources"));
  return isEqual({ ...container, resources: { limits, requests } }, before);
}

function isEqual(one: unknown, other: unknown): boolean {
  return deepEquals(withoutEmpty(one), withoutEmpty(other));
}

function sameContainers(list: Field, name: string, before: readonly Fields[]): boolean {
  if (list.items.length !== before.length) {
    list.forbidden(`${name} may not be added or removed on resize`);
    return false;
  }
  const moved = list.items.filter((container, index) => container.at("name").text !== before[index]?.["name"]);
  for (const container of moved) container.at("name").forbidden(`${name} may not be renamed or reordered on resize`);
  return moved.length === 0;
}

function removed(resources: Field, before: Fields, what: string): void {
  for (const kind of ["requests", "limits"]) {
    const field = resources.at(kind);
    const names = Object.keys(inner(before, kind));
    if (names.some((name) => field.fields[name] === undefined)) field.forbidden(`${what} ${kind} cannot be removed`);
  }
}

/** Returns the resources with the CPU and memory that they had before. */
function withoutChange(resources: Fields, before: Fields): Fields {
  const list = (kind: string): Fields => {
    const { cpu: _, memory: __, ...others } = inner(resources, kind);
    const { cpu, memory } = inner(before, kind);
    return { ...others, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  };
  return { ...resources, limits: list("limits"), requests: list("requests") };
}
