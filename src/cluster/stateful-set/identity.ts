/** The identity of a stateful set's pod: its ordinal, and the names that follow from it. */
import type { Pod, PodInput, PodTemplateSpec, StatefulSet } from "../../resource/builtin/index.ts";
import { podOf } from "../workload/pod-control.ts";
import { volumesFor } from "./volumes.ts";

const REVISION_LABEL = "controller-revision-hash";
const NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const INDEX_LABEL = "apps.kubernetes.io/pod-index";

/** Splits a name such as `web-0` at the last dash. */
const NAME = /^(.*)-([0-9]+)$/;

/** Returns the ordinal in a pod's name; -1 when there is none. */
export function ordinalOf({ metadata }: { readonly metadata: { readonly name: string } }): number {
  const ordinal = Number(NAME.exec(metadata.name)?.[2] ?? -1);
  return ordinal < 2 ** 31 ? ordinal : -1;
}

/** Whether a pod's name belongs to the set. */
export function isMemberOf(set: StatefulSet, pod: Pod): boolean {
  return NAME.exec(pod.metadata.name)?.[1] === set.metadata.name;
}

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

export function replicasOf({ spec }: StatefulSet): number {
  return spec.replicas ?? 1;
}

export function isWanted(set: StatefulSet, ordinal: number): boolean {
  const index = ordinal - firstOrdinal(set);
  return index >= 0 && index < replicasOf(set);
}

/** Returns the revision that a pod was made from. */
export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[REVISION_LABEL];
}

/** A template and the name of its revision. */
export interface Version {
  readonly name: string;
  readonly template: PodTemplateSpec;
}

/** Makes the pod of an ordinal. */
export function newPod(set: StatefulSet, ordinal: number, { name: revision, template }: Version): PodInput {
  const { metadata, spec } = podOf(template, set);
  const name = `${set.metadata.name}-${ordinal}`;
  return {
    metadata: {
      ...metadata,
      name,
      labels: { ...metadata.labels, ...identityLabels(name), [REVISION_LABEL]: revision },
    },
    spec: {
      ...spec,
      hostname: name,
      subdomain: set.spec.serviceName,
      volumes: volumesFor(set, ordinal, spec.volumes),
    },
  };
}

export function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  return isMemberOf(set, pod) && pod.metadata.labels?.[NAME_LABEL] === pod.metadata.name;
}

/** Returns the labels that repeat the pod's name. */
export function identityLabels(name: string): Record<string, string> {
  return { [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinalOf({ metadata: { name } })) };
}
