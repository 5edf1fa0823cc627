/** The admission plugins of this server by the names of kube-apiserver, which enable and disable them. */

/** Those that are enabled by default. */
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
 * Those that are not. `ServiceAccount` is among them, although kube-apiserver enables it, because it refuses pods where no
 * controller makes accounts.
 */
const optional = [
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "OwnerReferencesPermissionEnforcement",
  "ServiceAccount",
] as const;

export type PluginName = (typeof byDefault)[number] | (typeof optional)[number];

export const pluginNames: readonly PluginName[] = [...byDefault, ...optional];

/** Which plugins are enabled beside those by default, and which are not. */
export interface PluginChoice {
  readonly enabled?: readonly PluginName[] | undefined;
  readonly disabled?: readonly PluginName[] | undefined;
}

/** Returns the plugins that are enabled. */
export function enabledPlugins({ enabled = [], disabled = [] }: PluginChoice): ReadonlySet<PluginName> {
  return new Set([...byDefault, ...enabled].filter((name) => !disabled.includes(name)));
}
