/** The admission plugins, in the order of kube-apiserver; those that it enables by default are here. */
import type { AdmissionAttributes } from "../hooks.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-classes.ts";
import { limitRanger } from "./limit-ranger.ts";
import { taintNew, tolerateAWhile } from "./node-taints.ts";
import type { Plugin } from "./plugin.ts";
import { podResize } from "./pod-resize.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { priority } from "./priority.ts";
import { runtimeClass } from "./runtime-class.ts";
import { approval, signing, subjectRestriction } from "./signing-requests.ts";
import { claimResize, inUseProtection } from "./storage-rules.ts";

const plugins: readonly Plugin[] = [
  limitRanger,
  taintNew,
  podSecurity,
  priority,
  tolerateAWhile,
  defaultStorageClass,
  inUseProtection,
  claimResize,
  runtimeClass,
  approval,
  signing,
  subjectRestriction,
  defaultIngressClass,
  podResize,
];

const byResource = new Map<string, Plugin[]>();
for (const plugin of plugins) {
  for (const resource of plugin.resources) byResource.set(resource, [...(byResource.get(resource) ?? []), plugin]);
}

function pluginsOf({ context: { row, operation } }: AdmissionAttributes): readonly Plugin[] | undefined {
  if (row.custom || (operation !== "CREATE" && operation !== "UPDATE")) return undefined;
  return byResource.get(`${row.group}/${row.plural}`);
}

/** Changes the object in place. @throws StatusError when a plugin rejects it */
export function mutateBuiltIn(attributes: AdmissionAttributes): void {
  for (const plugin of pluginsOf(attributes) ?? []) plugin.mutate?.(attributes);
}

/** Validates the object. @throws StatusError when a plugin rejects it */
export function validateBuiltIn(attributes: AdmissionAttributes): void {
  for (const plugin of pluginsOf(attributes) ?? []) plugin.validate?.(attributes);
}
