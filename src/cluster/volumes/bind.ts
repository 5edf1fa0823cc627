/** Binds a volume and a claim to each other, and takes the volume's side back. */
import { type Client, type Draft, edit } from "../../index.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { isMeantFor } from "./volume-match.ts";

/** What this controller bound, it may take back; what a user bound in advance stays meant for the claim. */
const BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
const COMPLETED = "pv.kubernetes.io/bind-completed";

export type Phase = NonNullable<NonNullable<PersistentVolume["status"]>["phase"]>;
type ClaimPhase = NonNullable<NonNullable<PersistentVolumeClaim["status"]>["phase"]>;

/** Whether the claim was bound once; after that it is never bound to another volume. */
export function isBindCompleted({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[COMPLETED] !== undefined;
}

/** Writes both sides, the volume's first. What is written already is not written again. */
export async function bind(client: Client, volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
  const { apiVersion, kind, metadata } = claim;
  const { name, namespace, uid, resourceVersion } = metadata;
  const claimed = await changed(client, volume, (draft) => {
    if (volume.spec?.claimRef?.uid !== uid || !isMeantFor(volume, claim))
      (draft.spec ??= {}).claimRef = { apiVersion, kind, name, namespace, uid, resourceVersion };
    if (!isMeantFor(volume, claim)) (draft.metadata.annotations ??= {})[BY_CONTROLLER] ??= "yes";
  });
  const bound = await enter(client, claimed, "Bound");
  const bearing = edit(claim, (draft) => {
    const annotations = (draft.metadata.annotations ??= {});
    if (claim.spec?.volumeName !== volume.metadata.name) {
      (draft.spec ??= {}).volumeName = volume.metadata.name;
      annotations[BY_CONTROLLER] ??= "yes";
    }
    annotations[COMPLETED] ??= "yes";
  });
  const whole = sameJson(bearing, claim) ? claim : await client.update(PersistentVolumeClaim, bearing);
  await enterClaim(client, whole, "Bound", bound);
}

/** Makes a volume available again; one that a user meant for a claim stays meant for it. */
export async function unbind(client: Client, volume: PersistentVolume): Promise<void> {
  const freed = await changed(client, volume, (draft) => {
    if (draft.metadata.annotations?.[BY_CONTROLLER] === undefined) {
      delete draft.spec?.claimRef?.uid;
      return;
    }
    delete draft.spec?.claimRef;
    delete draft.metadata.annotations[BY_CONTROLLER];
  });
  await enter(client, freed, "Available");
}

/** Writes the phase of a volume. */
export async function enter(
  client: Client,
  volume: PersistentVolume,
  phase: Phase,
  message?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume;
  const { message: _, ...status } = volume.status ?? {};
  const next = { ...volume, status: { ...status, phase, ...(message !== undefined && { message }) } };
  return (await client
    .subresource("status")
    .update(PersistentVolume, { name: volume.metadata.name }, next)) as unknown as PersistentVolume;
}

/** Writes the phase of a claim, with what it has of its volume. @returns whether it is new */
export async function enterClaim(
  client: Client,
  claim: PersistentVolumeClaim,
  phase: ClaimPhase,
  volume?: PersistentVolume,
): Promise<boolean> {
  const { metadata, status: before } = claim;
  const { accessModes: _, capacity, currentVolumeAttributesClassName: current, ...others } = before ?? {};
  const isNew = before?.phase !== phase;
  const { accessModes, capacity: whole, volumeAttributesClassName } = volume?.spec ?? {};
  const status = {
    ...others,
    phase,
    ...(volume !== undefined && {
      accessModes,
      // A claim that is bound already may differ from its volume, because it is being resized.
      capacity: isNew ? whole : capacity,
      currentVolumeAttributesClassName: before?.phase === "Pending" ? volumeAttributesClassName : current,
    }),
  };
  if (sameJson(status, before)) return false;
  const { name, namespace } = metadata;
  await client.subresource("status").update(PersistentVolumeClaim, { name, namespace }, { ...claim, status });
  return isNew;
}

async function changed(
  client: Client,
  volume: PersistentVolume,
  change: (draft: Draft<PersistentVolume>) => void,
): Promise<PersistentVolume> {
  const next = edit(volume, change);
  return sameJson(next, volume) ? volume : client.update(PersistentVolume, next);
}
