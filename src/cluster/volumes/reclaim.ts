/** What becomes of a volume whose claim is gone. @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming */
import { type Client, isNotFound, type RunEvents } from "../../index.ts";
import { PersistentVolume } from "../../resource/builtin/index.ts";
import { enter, unbind } from "./bind.ts";

const PROVISIONER = "pv.kubernetes.io/provisioned-by";
const MIGRATED = "pv.kubernetes.io/migrated-to";
const OWN = "kubernetes.io/";

/** Whether the volume was made for its claim, so that nobody else needs it. */
export function isProvisioned({ metadata }: PersistentVolume): boolean {
  return metadata.annotations?.[PROVISIONER] !== undefined;
}

/** Releases a volume, and recycles or deletes it where its policy says so and nobody else has to. */
export async function reclaim(
  known: PersistentVolume,
  { client, events }: { readonly client: Client; readonly events: RunEvents },
): Promise<void> {
  const isSettled = known.status?.phase === "Released" || known.status?.phase === "Failed";
  const volume = isSettled ? known : await enter(client, known, "Released");
  const { annotations = {}, name } = volume.metadata;
  const policy = volume.spec?.persistentVolumeReclaimPolicy;
  const fail = async (reason: string, message: string): Promise<void> => {
    if (volume.status?.phase === "Failed") return;
    await enter(client, volume, "Failed", message);
    events.warning(reason, message);
  };
  if (annotations[MIGRATED]) return;
  if (policy === "Recycle") {
    // There are no files to remove, so a volume whose kind can be recycled has been.
    if (volume.spec?.hostPath === undefined && volume.spec?.nfs === undefined)
      return fail("VolumeFailedRecycle", "No recycler plugin found for the volume!");
    events.normal("VolumeRecycled", "Volume recycled");
    return unbind(client, volume);
  }
  if (policy !== "Delete" || isDeletedByOthers(volume)) return;
  const path = volume.spec?.hostPath?.path;
  if (path === undefined)
    return fail(
      "VolumeFailedDelete",
      `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`,
    );
  if (!/^\/tmp\/.+/.test(path))
    return fail("VolumeFailedDelete", `host_path deleter only supports /tmp/.+ but received provided ${path}`);
  await client.delete(PersistentVolume, { name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Whether a driver outside of Kubernetes deletes the volume. */
function isDeletedByOthers({ metadata, spec }: PersistentVolume): boolean {
  const provisioner = metadata.annotations?.[PROVISIONER];
  return provisioner ? !provisioner.startsWith(OWN) : spec?.csi !== undefined;
}
