/** Decides which volume a claim is bound to. @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding */
import { resourceList } from "binnacle-apiserver";
import type { Node, PersistentVolume, PersistentVolumeClaim } from "../../resource/builtin/index.ts";
import { isSelected } from "../pods/node-fit.ts";
import { selectedBy } from "../workload/owner.ts";

/** Whether a volume names this claim, with or without its UID. */
export function isMeantFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid } = spec?.claimRef ?? {};
  return name === metadata.name && namespace === metadata.namespace && (!uid || uid === metadata.uid);
}

const CLASS = "volume.beta.kubernetes.io/storage-class";

type Classed = Pick<PersistentVolume | PersistentVolumeClaim, "metadata" | "spec">;

/** The name of the storage class; `undefined` where nobody named one, not even the empty one. */
export function namedClass({ metadata, spec }: Classed): string | undefined {
  return metadata.annotations?.[CLASS] ?? spec?.storageClassName;
}

export function classOf(object: Classed): string {
  return namedClass(object) ?? "";
}

/** Why a volume that a claim asks for by name cannot serve it; `undefined` when it can. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined)
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (capacityOf(volume) < requestOf(claim)) return "requested PV is too small";
  if (classOf(volume) !== classOf(claim)) return "storageClassName does not match";
  if (attributesOf(volume) !== attributesOf(claim)) return "volumeAttributesClassName does not match";
  if (modeOf(volume) !== modeOf(claim)) return "incompatible volumeMode";
  return hasModes(volume, claim) ? undefined : "incompatible accessMode";
}

export interface MatchOptions {
  /** Whether only a volume that names the claim will do, because its class waits for a pod. */
  readonly isDelayed: boolean;
  /** The node of the pod that the class waited for. */
  readonly node: Node | undefined;
}

/**
 * Finds the volume for a claim that names none: one that names the claim, otherwise the smallest that is available. One
 * with fewer access modes than another is taken first.
 */
export function matchFor(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  options: MatchOptions,
): PersistentVolume | undefined {
  const groups = Map.groupBy(
    volumes.filter((volume) => hasModes(volume, claim)),
    ({ spec }) => (spec?.accessModes ?? []).toSorted().join(),
  );
  const byModes = [...groups].toSorted(([one], [other]) => one.split(",").length - other.split(",").length);
  for (const [, group] of byModes) {
    const match = bestOf(group, claim, options);
    if (match !== undefined) return match;
  }
  return undefined;
}

function bestOf(
  volumes: readonly PersistentVolume[],
  claim: PersistentVolumeClaim,
  { isDelayed, node }: MatchOptions,
): PersistentVolume | undefined {
  const request = requestOf(claim);
  const able = volumes.filter(
    (volume) =>
      capacityOf(volume) >= request &&
      modeOf(volume) === modeOf(claim) &&
      attributesOf(volume) === attributesOf(claim) &&
      volume.metadata.deletionTimestamp === undefined,
  );
  const meant = able.find((volume) => isMeantFor(volume, claim));
  if (meant !== undefined || isDelayed) return meant;
  const { selector } = claim.spec ?? {};
  const isWanted = selector === undefined ? () => true : selectedBy(selector);
  return able
    .filter(
      (volume) =>
        volume.spec?.claimRef === undefined &&
        volume.status?.phase === "Available" &&
        isWanted(volume) &&
        classOf(volume) === classOf(claim) &&
        (node === undefined || isReachable(volume, node)),
    )
    .toSorted((one, other) => Number(capacityOf(one) - capacityOf(other)))[0];
}

function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec?.nodeAffinity?.required;
  const affinity = required && { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  return isSelected({ containers: [], affinity }, node);
}

function capacityOf({ spec }: PersistentVolume): bigint {
  return resourceList(spec?.capacity).get("storage")?.nanos ?? 0n;
}

function requestOf({ spec }: PersistentVolumeClaim): bigint {
  return resourceList(spec?.resources?.requests).get("storage")?.nanos ?? 0n;
}

function modeOf({ spec }: PersistentVolume | PersistentVolumeClaim): string {
  return spec?.volumeMode ?? "Filesystem";
}

function attributesOf({ spec }: PersistentVolume | PersistentVolumeClaim): string {
  return spec?.volumeAttributesClassName ?? "";
}

function hasModes({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const modes: readonly string[] = spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode));
}
