/** The volumes of a stateful set's pods: one claim for each ordinal and template. */
import type { PersistentVolumeClaimInput, Pod, StatefulSet, Volume } from "../../resource/builtin/index.ts";

/** Returns a name such as `data-web-0`. */
function claimName(set: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${set.metadata.name}-${ordinal}`;
}

/** Returns the templates' names, which are also the names of the volumes. */
function templatesOf({ spec }: StatefulSet): string[] {
  return (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? "");
}

/** Returns the claims that the pod of an ordinal needs. */
export function claimsFor(set: StatefulSet, ordinal: number): PersistentVolumeClaimInput[] {
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata: { name = "", ...metadata } = {}, spec }) => ({
    metadata: {
      name: claimName(set, name, ordinal),
      namespace: set.metadata.namespace,
      labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      annotations: metadata.annotations,
      finalizers: metadata.finalizers,
    },
    spec,
  }));
}

/** Returns a pod's volumes; the set's templates replace volumes with the same name. */
export function volumesFor(
  set: StatefulSet,
  ordinal: number,
  volumes: readonly Volume[] | undefined,
): readonly Volume[] | undefined {
  const templates = templatesOf(set);
  if (templates.length === 0) return volumes;
  const claimed = templates.map((name) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(set, name, ordinal) },
  }));
  const names = new Set(claimed.map(({ name }) => name));
  return [...claimed, ...(volumes ?? []).filter(({ name }) => !names.has(name))];
}

/** Whether a pod mounts the claims of its ordinal. */
export function hasVolumes(set: StatefulSet, pod: Pod, ordinal: number): boolean {
  const mounted = new Map(pod.spec.volumes?.map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim]));
  return templatesOf(set).every((name) => mounted.get(name)?.claimName === claimName(set, name, ordinal));
}
