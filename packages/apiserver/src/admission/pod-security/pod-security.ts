/** PodSecurity. @see https://kubernetes.io/docs/concepts/security/pod-security-admission/ */
import { deepEquals } from "#platform/equality";
import type { AdmissionAttributes, Fields, KubeObject, ObjectMetadata } from "../../hooks.ts";
import { forbidden, invalid } from "../../status.ts";
import { each, inner } from "../../validation/fill.ts";
import type { Plugin } from "../plugin.ts";
import { detailText, findings, levelText, type LevelVersion, type Policy, policyOf, strictness } from "./policy.ts";

export const podSecurity: Plugin = {
  name: "PodSecurity",
  resources: [
    "/namespaces",
    "/pods",
    "/podtemplates",
    "/replicationcontrollers",
    "apps/replicasets",
    "apps/deployments",
    "apps/statefulsets",
    "apps/daemonsets",
    "batch/jobs",
    "batch/cronjobs",
  ],
  validate(attributes) {
    const { context, object } = attributes;
    if (object === undefined || (context.operation !== "CREATE" && context.operation !== "UPDATE")) return;
    if (context.row.kind === "Namespace") return validateNamespace(attributes, object);
    if (context.row.kind === "Pod") return validatePod(attributes, object);
    if (context.subresource === "") warnOfTemplate(attributes, object);
  },
};

function policyOfNamespace({ context }: AdmissionAttributes): Policy {
  const namespace = context.reader.get({ group: "", plural: "namespaces" }, { name: context.namespace });
  return policyOf(namespace?.metadata.labels);
}

function validateNamespace(attributes: AdmissionAttributes, namespace: KubeObject): void {
  const { context, oldObject } = attributes;
  if (context.subresource !== "") return;
  const next = policyOf(namespace.metadata.labels);
  const old = oldObject === undefined ? undefined : policyOf(oldObject.metadata.labels);
  const isNew = old === undefined || old.errors.length === 0 || !deepEquals(next.errors, old.errors);
  if (next.errors.length > 0 && isNew) {
    throw invalid({ group: "", kind: "Namespace" }, namespace.metadata.name ?? "", { errors: next.errors });
  }
  if (old === undefined || deepEquals(next.enforce, old.enforce) || next.enforce.level === "privileged") return;
  const isLooser = strictness(next.enforce.level) <= strictness(old.enforce.level);
  if (next.enforce.version === old.enforce.version && isLooser) return;
  warnOfPods(attributes, namespace.metadata.name ?? "", next.enforce);
}

/** Warns of existing pods that would be rejected now. */
function warnOfPods({ context }: AdmissionAttributes, namespace: string, enforce: LevelVersion): void {
  const names = new Map<string, string[]>();
  for (const { metadata, ...pod } of context.reader.list({ group: "", plural: "pods" }, namespace)) {
    const violations = findings(enforce, { metadata, spec: inner(pod, "spec") });
    if (violations.length === 0) continue;
    const reasons = violations.map(({ reason }) => reason).join(", ");
    names.set(reasons, [...(names.get(reasons) ?? []), metadata.name ?? ""]);
  }
  if (names.size === 0) return;
  const level = levelText(enforce);
  context.warn(`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${level}"`);
  const lines = [...names].map(([reasons, pods]) => {
    const [first] = pods.toSorted();
    const others = pods.length - 1;
    const more = others === 0 ? "" : ` (and ${others} other pod${others === 1 ? "" : "s"})`;
    return `${first}${more}: ${reasons}`;
  });
  for (const line of lines.toSorted()) context.warn(line);
}

const ignored: ReadonlySet<string> = new Set("exec attach binding eviction log portforward proxy status".split(" "));

function validatePod(attributes: AdmissionAttributes, pod: KubeObject): void {
  const { context, oldObject } = attributes;
  if (ignored.has(context.subresource)) return;
  const policy = policyOfNamespace(attributes);
  const { enforce, warn } = policy;
  if (enforce.level === "privileged" && warn.level === "privileged") return;
  if (oldObject !== undefined && !isOtherImage(inner(pod, "spec"), inner(oldObject, "spec"))) return;
  const parts = { metadata: pod.metadata, spec: inner(pod, "spec") };
  const violations = findings(enforce, parts);
  if (violations.length > 0) {
    const why = `violates PodSecurity "${levelText(enforce)}": ${detailText(violations)}`;
    throw forbidden(context.row, context.name || (pod.metadata.name ?? ""), { why });
  }
  tell(attributes, policy, parts);
}

function isOtherImage(next: Fields, old: Fields): boolean {
  const images = (spec: Fields, list: string): unknown[] =>
    each(spec, list).map((container) => [container["name"], container["image"]]);
  return ["containers", "initContainers", "ephemeralContainers"].some(
    (list) => !deepEquals(images(next, list), images(old, list)),
  );
}

function warnOfTemplate(attributes: AdmissionAttributes, object: KubeObject): void {
  const policy = policyOfNamespace(attributes);
  if (policy.warn.level === "privileged") return;
  const template = templateOf(object);
  if (template !== undefined) tell(attributes, policy, template);
}

function templateOf(object: KubeObject): { metadata: ObjectMetadata; spec: Fields } | undefined {
  const jobSpec = inner(inner(inner(object, "spec"), "jobTemplate"), "spec");
  const holder = object.kind === "PodTemplate" ? object : object.kind === "CronJob" ? jobSpec : inner(object, "spec");
  if (holder["template"] === undefined) return undefined;
  const template = inner(holder, "template");
  return { metadata: inner(template, "metadata"), spec: inner(template, "spec") };
}

function tell(
  { context }: AdmissionAttributes,
  { warn }: Policy,
  pod: { metadata: ObjectMetadata; spec: Fields },
): void {
  const violations = findings(warn, pod);
  if (violations.length > 0) context.warn(`would violate PodSecurity "${levelText(warn)}": ${detailText(violations)}`);
}
