/**
 * RuntimeClass: adds the overhead and the scheduling constraints of a pod's runtime. @see
 * https://kubernetes.io/docs/concepts/containers/runtime-class/
 */
import { deepEquals } from "#platform/equality";
import type { AdmissionAttributes, Fields, KubeObject } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";

export const runtimeClass: Plugin = {
  name: "RuntimeClass",
  resources: ["/pods"],
  mutate(attributes) {
    const found = classOf(attributes);
    if (found === undefined) return;
    const spec = inner(attributes.object!, "spec");
    setOverhead(attributes, spec, found);
    setScheduling(attributes, spec, found);
  },
  validate(attributes) {
    const found = classOf(attributes);
    const { object, context } = attributes;
    if (object === undefined || context.operation !== "CREATE" || context.subresource !== "") return;
    const spec = inner(object, "spec");
    const isEmpty = Object.keys(inner(spec, "overhead")).length === 0;
    if (found?.["overhead"] === undefined) {
      if (isEmpty) return;
      throw refusal(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    if (!deepEquals(inner(inner(found, "overhead"), "podFixed"), inner(spec, "overhead")))
      throw overheadDiffers(attributes);
  },
};

function classOf(attributes: AdmissionAttributes): KubeObject | undefined {
  const { context, object } = attributes;
  if (object === undefined || context.operation !== "CREATE" || context.subresource !== "") return undefined;
  const name = inner(object, "spec")["runtimeClassName"];
  if (typeof name !== "string") return undefined;
  const found = context.reader.get({ group: "node.k8s.io", plural: "runtimeclasses" }, { name });
  if (found === undefined) throw refusal(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

function overheadDiffers(attributes: AdmissionAttributes): Error {
  return refusal(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function setOverhead(attributes: AdmissionAttributes, spec: Fields, found: KubeObject): void {
  if (found["overhead"] === undefined) return;
  const fixed = inner(inner(found, "overhead"), "podFixed");
  const given = inner(spec, "overhead");
  if (Object.keys(given).length > 0 && !deepEquals(fixed, given)) throw overheadDiffers(attributes);
  spec["overhead"] = structuredClone(fixed);
}

function setScheduling(attributes: AdmissionAttributes, spec: Fields, found: KubeObject): void {
  if (found["scheduling"] === undefined) return;
  const scheduling = inner(found, "scheduling");
  const selector: Fields = { ...inner(spec, "nodeSelector") };
  for (const [key, value] of Object.entries(inner(scheduling, "nodeSelector"))) {
    if (Object.hasOwn(selector, key) && selector[key] !== value) {
      const ours = `runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}`;
      throw refusal(attributes, `conflict: ${ours}; pod.spec.nodeSelector[${key}] = ${String(selector[key])}`);
    }
    selector[key] = value;
  }
  if (Object.keys(selector).length > 0) spec["nodeSelector"] = selector;
  const tolerations = merged([...each(spec, "tolerations"), ...structuredClone(each(scheduling, "tolerations"))]);
  if (tolerations.length > 0) spec["tolerations"] = tolerations;
}

/** Drops tolerations that another toleration includes. */
function merged(all: readonly Fields[]): Fields[] {
  const kept: Fields[] = [];
  for (const [index, one] of all.entries()) {
    const isCovered =
      kept.some((other) => includes(other, one)) ||
      all.slice(index + 1).some((other) => !deepEquals(other, one) && includes(other, one));
    if (!isCovered) kept.push(one);
  }
  return kept;
}

function includes(wide: Fields, narrow: Fields): boolean {
  if (deepEquals(wide, narrow)) return true;
  const { key = "", operator = "", effect = "", tolerationSeconds } = wide;
  if ((narrow["key"] ?? "") !== key && (key !== "" || operator !== "Exists")) return false;
  if ((narrow["effect"] ?? "") !== effect && effect !== "") return false;
  if (effect === "NoExecute" && tolerationSeconds !== undefined) {
    const seconds = narrow["tolerationSeconds"];
    if (seconds === undefined || Number(seconds) > Number(tolerationSeconds)) return false;
  }
  if (operator === "Exists") return true;
  return narrow["operator"] === "Equal" && (narrow["value"] ?? "") === (wide["value"] ?? "");
}
