/**
 * Priority: resolves the name of a class to a number. @see
 * https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
 */
import type { AdmissionAttributes, Fields, KubeObject, Reader } from "../hooks.ts";
import { inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";

export const priority: Plugin = {
  name: "Priority",
  resources: ["/pods", "scheduling.k8s.io/priorityclasses"],
  mutate(attributes) {
    const { context, object, oldObject } = attributes;
    if (context.row.kind !== "Pod" || context.subresource !== "" || object === undefined) return;
    if (context.operation === "CREATE") establish(attributes, inner(object, "spec"));
    if (context.operation === "UPDATE" && oldObject !== undefined)
      keep(inner(object, "spec"), inner(oldObject, "spec"));
  },
  validate(attributes) {
    const { context, object } = attributes;
    if (context.row.kind !== "PriorityClass" || object?.["globalDefault"] !== true) return;
    const name = defaultClass(context.reader)?.metadata.name;
    if (name === undefined || (context.operation === "UPDATE" && name === object.metadata.name)) return;
    throw refusal(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
  },
};

function keep(spec: Fields, old: Fields): void {
  for (const name of ["priority", "preemptionPolicy"]) if (old[name] !== undefined) spec[name] ??= old[name];
}

const classes = { group: "scheduling.k8s.io", plural: "priorityclasses" };

/** Returns the default class; among several, the one with the lowest priority. */
function defaultClass(reader: Reader): KubeObject | undefined {
  const value = (one: KubeObject): number => Number(one["value"] ?? 0);
  const [first] = reader
    .list(classes)
    .filter((one) => one["globalDefault"] === true)
    .toSorted((one, other) => value(one) - value(other));
  return first;
}

function establish(attributes: AdmissionAttributes, spec: Fields): void {
  const { reader } = attributes.context;
  const name = String(spec["priorityClassName"] ?? "");
  const priorityClass = name === "" ? defaultClass(reader) : reader.get(classes, { name });
  if (name !== "" && priorityClass === undefined)
    throw refusal(attributes, `no PriorityClass with name ${name} was found`);
  if (priorityClass !== undefined) spec["priorityClassName"] = priorityClass.metadata.name;
  const computed = Number(priorityClass?.["value"] ?? 0);
  const requested = spec["priority"];
  const why = "must not be provided in pod spec; priority admission controller computed";
  if (requested !== undefined && requested !== null && requested !== computed) {
    const what = `the integer value of priority (${String(requested)}) ${why} ${computed}`;
    throw refusal(attributes, `${what} from the given PriorityClass name`);
  }
  spec["priority"] = computed;
  const policy = priorityClass === undefined ? "PreemptLowerPriority" : priorityClass["preemptionPolicy"];
  if (policy === undefined) return;
  const preemption = spec["preemptionPolicy"];
  if (preemption !== undefined && preemption !== null && preemption !== policy) {
    const what = `the string value of PreemptionPolicy (${String(preemption)}) ${why} ${String(policy)}`;
    throw refusal(attributes, `${what} from the given PriorityClass name`);
  }
  spec["preemptionPolicy"] = policy;
}
