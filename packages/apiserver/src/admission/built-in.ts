/** The admission plugins, in the order of kube-apiserver. */
import type { AdmissionAttributes, AdmissionOptions } from "../hooks.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-classes.ts";
import { limitRanger } from "./limit-ranger.ts";
import { taintNew, tolerateAWhile } from "./node-taints.ts";
import { alwaysPullImages, denyExternalAddresses } from "./optional-rules.ts";
import { ownerPermissions } from "./owner-permissions.ts";
import type { Plugin } from "./plugin.ts";
import { podResize } from "./pod-resize.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { priority } from "./priority.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { approval, signing, subjectRestriction } from "./signing-requests.ts";
import { claimResize, inUseProtection } from "./storage-rules.ts";

const plugins: readonly Plugin[] = [
  limitRanger,
  serviceAccounts,
  taintNew,
  alwaysPullImages,
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
  denyExternalAddresses,
  podResize,
];

export interface BuiltInPlugins {
  /** Changes the object in place. @throws StatusError when a plugin rejects it */
  mutate(attributes: AdmissionAttributes): void;
  /** Validates the object. @throws StatusError when a plugin rejects it */
  validate(attributes: AdmissionAttributes): void;
}

/** Returns the plugins that are enabled. */
export function builtInPlugins({ plugins: enabled, kindOf }: AdmissionOptions): BuiltInPlugins {
  const everywhere: Plugin[] = [];
  const byResource = new Map<string, Plugin[]>();
  for (const plugin of [...plugins, ownerPermissions(kindOf)]) {
    if (!enabled.has(plugin.name)) continue;
    if (plugin.resources === "all") everywhere.push(plugin);
    else
      for (const resource of plugin.resources) byResource.set(resource, [...(byResource.get(resource) ?? []), plugin]);
  }
  const pluginsOf = ({ context: { row, operation } }: AdmissionAttributes): readonly Plugin[] => {
    if (operation !== "CREATE" && operation !== "UPDATE") return everywhere;
    const own = row.custom ? undefined : byResource.get(`${row.group}/${row.plural}`);
    return own === undefined ? everywhere : [...own, ...everywhere];
  };
  return {
    mutate: (attributes) => pluginsOf(attributes).forEach((plugin) => plugin.mutate?.(attributes)),
    validate: (attributes) => pluginsOf(attributes).forEach((plugin) => plugin.validate?.(attributes)),
  };
}
