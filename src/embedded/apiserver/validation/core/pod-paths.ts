/** What may be changed through `pods/ephemeralcontainers` and `pods/resize`. */
import type { Fields, GroupVersionKind } from "../../hooks.ts";
import { internalDiff } from "../internal-values.ts";
import type { Field } from "../field.ts";
import { each, inner } from "../fill.ts";

/** Containers for debugging come, and neither change nor go. */
export function ephemeralUpdate(object: Field, old: Fields, row: GroupVersionKind): void {
  const list = object.at("spec").at("ephemeralContainers");
  const next = each(object.at("spec").fields, "ephemeralContainers");
  for (const before of each(inner(old, "spec"), "ephemeralContainers")) {
    const name = JSON.stringify(before["name"]);
    const after = next.find((one) => one["name"] === before["name"]);
    if (after === undefined) list.forbidden(`existing ephemeral containers ${name} may not be removed\n`);
    else if (!Bun.deepEquals(after, before)) {
      const place = { row, path: "spec.ephemeralContainers[]" };
      const change = `existing ephemeral containers ${name} may not be changed`;
      list.forbidden(`${change}\n${internalDiff(place, before, after)}`);
    }
  }
}

/** @param quality the quality of service of a pod's spec */
export function resizeUpdate(object: Field, old: Fields, quality: (spec: Fields) => string): void {
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  if (quality(spec.fields) !== quality(before)) {
    spec.with(quality(before)).invalid("Pod QOS Class may not change as a result of resizing");
  }
  const runs = each(inner(old, "status"), "containerStatuses").find((one) => inner(one, "state")["running"]);
  if (runs !== undefined && runs["resources"] === undefined) {
    spec.forbidden("Pod running on node without support for resize");
  }
  const isSame = ["containers", "initContainers"].map((name) =>
    sameContainers(spec.at(name), name, each(before, name)),
  );
  if (isSame.includes(false)) return;
  for (const name of ["initContainers", "containers"]) {
    for (const [index, container] of spec.at(name).items.entries()) removed(container, each(before, name)[index] ?? {});
  }
  const next = structuredClone(spec.fields);
  for (const name of ["containers", "initContainers"]) {
    for (const [index, container] of each(next, name).entries()) {
      const earlier = each(before, name)[index] ?? {};
      if (name === "initContainers" && container["restartPolicy"] !== "Always") continue;
      container["resources"] = withoutChange(inner(container, "resources"), inner(earlier, "resources"));
    }
  }
  if (spec.errors.length === 0 && !Bun.deepEquals(next, withResources(before))) {
    spec.forbidden("only cpu and memory resources are mutable");
  }
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

function removed(container: Field, before: Fields): void {
  for (const kind of ["requests", "limits"]) {
    const field = container.at("resources").at(kind);
    const names = Object.keys(inner(inner(before, "resources"), kind));
    if (names.some((name) => field.fields[name] === undefined)) field.forbidden(`resource ${kind} cannot be removed`);
  }
}

/** With the processor time and the memory of before. */
function withoutChange(resources: Fields, before: Fields): Fields {
  const list = (kind: string): Fields => {
    const { cpu: _, memory: __, ...others } = inner(resources, kind);
    const { cpu, memory } = inner(before, kind);
    return { ...others, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  };
  const lists = ["requests", "limits"].map((kind) => [kind, list(kind)] as const);
  return { ...resources, ...Object.fromEntries(lists.filter(([, held]) => Object.keys(held).length > 0)) };
}

/** Containers that say nothing of resources have none. */
function withResources(spec: Fields): Fields {
  const next = structuredClone(spec);
  for (const name of ["containers", "initContainers"]) {
    for (const container of each(next, name)) {
      if (name === "containers" || container["restartPolicy"] === "Always") container["resources"] ??= {};
    }
  }
  return next;
}
