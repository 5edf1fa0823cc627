// Deletes a claim that pods use only when the last of these pods is gone, and a volume that is bound to a claim only
// when the claim is gone. These controllers show a finalizer that the API server adds, and objects of other owners that
// decide when it is removed.
import { allow, defineIndex, type Definition, defineKeyController, watch } from "../../index.ts";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../resource/builtin/index.ts";
import { isHeld, release } from "../workload/finalizer.ts";

const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";

/** The index of pods by the claims that they mount. */
const byClaim = defineIndex(Pod, "claims", claimsOf);

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection */
export function claimProtection(): Definition {
  return defineKeyController({
    name: "pvc-protection-controller",
    watches: [
      watch(PersistentVolumeClaim, { match: (claim) => isHeld(claim, CLAIM_FINALIZER), enqueue: (claim) => [claim] }),
      watch(Pod, {
        on: ({ type }) => type === "delete",
        enqueue: (pod) => claimsOf(pod).map((name) => ({ name, namespace: pod.metadata.namespace })),
      }),
    ],
    uses: [allow(PersistentVolumeClaim, "patch")],
    async reconcile({ name, namespace = "" }, { client }) {
      const claim = await client.find(PersistentVolumeClaim, { name, namespace });
      if (claim === undefined || !isHeld(claim, CLAIM_FINALIZER)) return;
      const users = await client.list(Pod, { namespace, index: byClaim.is(name) });
      // A kubelet does not start a pod whose claim is being deleted, so only pods that have a node can use it.
      if (!users.some(({ spec }) => spec.nodeName))
        await release(PersistentVolumeClaim, claim, { finalizer: CLAIM_FINALIZER, client });
    },
  });
}

function claimsOf({ spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection */
export function volumeProtection(): Definition {
  return defineKeyController({
    name: "pv-protection-controller",
    watches: [
      watch(PersistentVolume, { match: (volume) => isHeld(volume, VOLUME_FINALIZER), enqueue: (volume) => [volume] }),
      watch(PersistentVolumeClaim, {
        on: ({ type }) => type === "delete",
        enqueue: ({ spec }) => (spec?.volumeName ? [{ name: spec.volumeName }] : []),
      }),
    ],
    uses: [allow(PersistentVolume, "patch")],
    async reconcile({ name }, { client }) {
      const volume = await client.find(PersistentVolume, { name });
      if (volume === undefined || !isHeld(volume, VOLUME_FINALIZER)) return;
      const claim = volume.spec?.claimRef;
      // Kubernetes looks at the phase alone, which another controller turns to Released when the claim goes.
      if (volume.status?.phase === "Bound" && claim?.name && claim.namespace) {
        const bound = await client.find(PersistentVolumeClaim, { name: claim.name, namespace: claim.namespace });
        if (bound !== undefined && (!claim.uid || bound.metadata.uid === claim.uid)) return;
      }
      await release(PersistentVolume, volume, { finalizer: VOLUME_FINALIZER, client });
    },
  });
}
