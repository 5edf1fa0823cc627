/** The names of the admission plugins of this server, as kube-apiserver calls them. They enable or disable a plugin. */

/** The plugins that are enabled by default. */
const byDefault = [
  "NamespaceLifecycle",
  "LimitRanger",
  "TaintNodesByCondition",
  "PodSecurity",
  "Priority",
  "DefaultTolerationSeconds",
  "DefaultStorageClass",
  "StorageObjectInUseProtection",
  "PersistentVolumeClaimResize",
  "RuntimeClass",
  "CertificateApproval",
  "CertificateSigning",
  "CertificateSubjectRestriction",
  "DefaultIngressClass",
  "PodResizeValidator",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
  "ResourceQuota",
] as const;
/**
 * The plugins that are disabled by default. `ServiceAccount` is one of them, although kube-apiserver enables it: it
 * refuses every pod where no controller makes accounts.
 */
const optional = [
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "OwnerReferencesPermissionEnforcement",
  "ServiceAccount",
] as const;

export type PluginName = (typeof byDefault)[number] | (typeof optional)[number];

export const pluginNames: readonly PluginName[] = [...byDefault, ...optional];

/** The plugins to enable or disable, apart from their defaults. */
export interface PluginChoice {
  readonly enabled?: readonly PluginName[] | undefined;
  readonly disabled?: readonly PluginName[] | undefined;
}

/** Returns the plugins that are enabled. */
export function enabledPlugins({ enabled = [], disabled = [] }: PluginChoice): ReadonlySet<PluginName> {
  return new Set([...byDefault, ...enabled].filter((name) => !disabled.includes(name)));
}
