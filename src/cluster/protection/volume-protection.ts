/** Deletes a volume that is bound to a claim only when the claim is gone. */
import { allow, type Definition, defineKeyController, watch } from "../../index.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../../resource/builtin/index.ts";
import { isHeld, release } from "./held.ts";

const FINALIZER = "kubernetes.io/pv-protection";

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection */
export function volumeProtection(): Definition {
  return defineKeyController({
    name: "pv-protection-controller",
    watches: [
      watch(PersistentVolume, { match: (volume) => isHeld(volume, FINALIZER), enqueue: (volume) => [volume] }),
      watch(PersistentVolumeClaim, {
        on: ({ type }) => type === "delete",
        enqueue: ({ spec }) => (spec?.volumeName ? [{ name: spec.volumeName }] : []),
      }),
    ],
    uses: [allow(PersistentVolume, "patch")],
    async reconcile({ name }, { client }) {
      const volume = await client.find(PersistentVolume, { name });
      if (volume === undefined || !isHeld(volume, FINALIZER)) return;
      const claim = volume.spec?.claimRef;
      // Kubernetes looks at the phase alone, which another controller turns to Released when the claim goes.
      if (volume.status?.phase === "Bound" && claim?.name && claim.namespace) {
        const found = await client.find(PersistentVolumeClaim, { name: claim.name, namespace: claim.namespace });
        if (found !== undefined && (!claim.uid || found.metadata.uid === claim.uid)) return;
      }
      await release(PersistentVolume, volume, { finalizer: FINALIZER, client });
    },
  });
}
