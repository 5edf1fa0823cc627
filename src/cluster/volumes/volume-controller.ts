// Says in which phase a volume is, and reclaims it when its claim is gone.
import {
  allow,
  type Client,
  defineController,
  defineIndex,
  type Definition,
  type RunEvents,
  watch,
} from "../../index.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../../resource/builtin/index.ts";
import { enter, unbind } from "./bind.ts";
import { isProvisioned, reclaim } from "./reclaim.ts";

const byClaimRef = defineIndex(PersistentVolume, "claimRef", ({ spec }) =>
  spec?.claimRef === undefined ? [] : [`${spec.claimRef.namespace}/${spec.claimRef.name}`],
);

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase */
export function volumeController(): Definition {
  return defineController({
    name: "persistentvolume-binder",
    for: PersistentVolume,
    watches: [
      watch(PersistentVolumeClaim, {
        enqueue: ({ metadata: { namespace, name } }, { client }) =>
          client.list(PersistentVolume, { index: byClaimRef.is(`${namespace}/${name}`) }),
      }),
    ],
    uses: [allow(PersistentVolume, "update", "delete", "status/update"), allow(PersistentVolumeClaim, "get")],
    async reconcile(volume, { client, events }) {
      if (!volume.spec?.claimRef?.uid) await enter(client, volume, "Available");
      else await follow(volume, { client, events });
    },
  });
}

/** Brings a volume that was bound to a claim into the phase which that claim asks for. */
async function follow(
  volume: PersistentVolume,
  run: { readonly client: Client; readonly events: RunEvents },
): Promise<void> {
  const { client } = run;
  const { name = "", namespace = "", uid } = volume.spec?.claimRef ?? {};
  const sameName = await client.find(PersistentVolumeClaim, { name, namespace });
  const claim = sameName?.metadata.uid === uid ? sameName : undefined;
  if (claim === undefined) return reclaim(volume, run);
  if (claim.spec?.volumeName === volume.metadata.name) await enter(client, volume, "Bound");
  else if (!claim.spec?.volumeName)
    return; // the claim's own controller completes the binding
  else if (isProvisioned(volume) && volume.spec?.persistentVolumeReclaimPolicy === "Delete") await reclaim(volume, run);
  else await unbind(client, volume);
}
