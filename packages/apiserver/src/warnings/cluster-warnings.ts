/** Warns about nodes, volumes and classes. */
import type { Fields, KubeObject } from "../hooks.ts";
import { each, has, inner } from "../validation/fill.ts";
import { rangeWarnings } from "./addresses.ts";
import { labelAdvice, warningsOfExpressions, warningsOfMap } from "./deprecated-labels.ts";

export function nodeWarnings(node: KubeObject): string[] {
  const spec = inner(node, "spec");
  return [
    ...(has(spec, "configSource") ? ["spec.configSource: the feature is removed"] : []),
    ...(spec["externalID"] ? ["spec.externalID: this field is deprecated, and is unused by Kubernetes"] : []),
    ...((spec["podCIDRs"] ?? []) as string[]).flatMap((range, index) =>
      rangeWarnings(`spec.podCIDRs[${index}]`, range),
    ),
  ];
}

const annotations: Readonly<Record<string, string>> = {
  "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
  "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
};

const drivers: Readonly<Record<string, string>> = {
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};

export function volumeWarnings(volume: KubeObject): string[] {
  const spec = inner(volume, "spec");
  const terms = each(inner(inner(spec, "nodeAffinity"), "required"), "nodeSelectorTerms");
  const recycled =
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  return [
    ...Object.entries(annotations)
      .filter(([name]) => volume.metadata.annotations?.[name] !== undefined)
      .map(([name, advice]) => `metadata.annotations[${name}]: ${advice}`),
    ...(spec["persistentVolumeReclaimPolicy"] === "Recycle" ? [recycled] : []),
    ...terms.flatMap((term, index) =>
      warningsOfExpressions(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`),
    ),
    ...Object.entries(drivers)
      .filter(([name]) => has(spec, name))
      .map(([name, advice]) => `spec.${name === "storageos" ? "storageOS" : name}: ${advice}`),
  ];
}

export function runtimeClassWarnings(runtimeClass: KubeObject): string[] {
  const selector = inner(inner(runtimeClass, "scheduling"), "nodeSelector");
  return warningsOfMap(selector, () => "scheduling.nodeSelector");
}

export function storageClassWarnings(storageClass: KubeObject): string[] {
  return each(storageClass, "allowedTopologies").flatMap((topology, index) =>
    each(topology, "matchLabelExpressions").flatMap(({ key }, place) => {
      const advice = labelAdvice(key);
      return advice === undefined ? [] : [`allowedTopologies[${index}].matchLabelExpressions[${place}].key: ${advice}`];
    }),
  );
}

/** Returns the warnings of a selector of nodes. */
export function selectorWarnings(selector: Fields, path: string): string[] {
  return [
    ...warningsOfExpressions(selector, path),
    ...warningsOfMap(inner(selector, "matchLabels"), (label) => `${path}.matchLabels.${label}`),
  ];
}
