/** Validates containers that are added to a running pod for debugging. */
import { anyContainer, type PodScope } from "./container-rules.ts";
import type { Field } from "../field.ts";

/** The fields that an ephemeral container cannot have, in the order of Go's struct. */
const refused = ["ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"];
const refusedAfterMounts = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"];

export function ephemeralContainers(spec: Field, scope: PodScope): void {
  const targets = new Set(
    ["containers", "initContainers"].flatMap((list) => spec.at(list).items.map((one) => one.at("name").text)),
  );
  const names = new Set(targets);
  for (const container of spec.at("ephemeralContainers").items) {
    anyContainer(container, scope);
    const [name, image] = [container.at("name"), container.at("image")];
    if (image.text !== image.text.trim()) image.invalid("must not have leading or trailing whitespace", image.text);
    if (names.has(name.text)) name.duplicate();
    names.add(name.text);
    const target = container.at("targetContainerName");
    if (target.text !== "" && !targets.has(target.text)) target.notFound();
    for (const part of [...refused, ...refusedAfterMounts]) {
      if (isSet(container.at(part))) container.at(part).forbidden("cannot be set for an Ephemeral Container");
    }
    for (const mount of container.at("volumeMounts").items) {
      for (const part of ["subPath", "subPathExpr"]) {
        if (!mount.at(part).empty) mount.at(part).forbidden("cannot be set for an Ephemeral Container");
      }
    }
  }
}

/** An empty resource requirement is an empty struct. */
function isSet(field: Field): boolean {
  if (!field.path.endsWith(".resources")) return field.present && !(Array.isArray(field.value) && field.empty);
  return ["limits", "requests", "claims"].some((name) => !field.at(name).empty);
}
