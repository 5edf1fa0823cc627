// Deletes a claim that pods use only when the last of these pods is gone, a volume that is bound to a claim only when
// the claim is gone, and a class of attributes only when no volume and no claim names it. These controllers show a
// finalizer that the API server adds, and objects of other owners that decide when it is removed.
import { allow, type Client, defineIndex, type Definition, defineKeyController, watch } from "../../index.ts";
import { PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttributesClass } from "../../resource/builtin/index.ts";
import { isHeld, release } from "../workload/finalizer.ts";

const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";
const ATTRIBUTES_FINALIZER = "kubernetes.io/vac-protection";

const byClaim = defineIndex(Pod, "claims", claimsOf);

/** Returns the pods that mount a claim. */
export function podsWith(client: Client, claim: PersistentVolumeClaim["metadata"]): Promise<readonly Pod[]> {
  return client.list(Pod, { namespace: claim.namespace, index: byClaim.is(claim.name) });
}

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
      const users = await podsWith(client, claim.metadata);
      // A kubelet does not start a pod whose claim is being deleted, so only pods that have a node can use it.
      if (!users.some(({ spec }) => spec.nodeName))
        await release(PersistentVolumeClaim, claim, { finalizer: CLAIM_FINALIZER, client });
    },
  });
}

/** The names of the claims that a pod mounts. */
export function claimsOf({ spec }: Pod): string[] {
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
      // Kubernetes looks at the phase alone, which another controller turns to Released when the claim goes. That one
      // sees no volume here that is being deleted.
      if (volume.status?.phase === "Bound" && claim?.name && claim.namespace) {
        const bound = await client.find(PersistentVolumeClaim, { name: claim.name, namespace: claim.namespace });
        if (bound !== undefined && (!claim.uid || bound.metadata.uid === claim.uid)) return;
      }
      await release(PersistentVolume, volume, { finalizer: VOLUME_FINALIZER, client });
    },
  });
}

const volumesByAttributes = defineIndex(PersistentVolume, "attributes", ({ spec }) =>
  spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [],
);
const claimsByAttributes = defineIndex(PersistentVolumeClaim, "attributes", ({ spec, status }) => {
  const target = status?.modifyVolumeStatus?.targetVolumeAttributesClassName;
  const names = [spec?.volumeAttributesClassName, status?.currentVolumeAttributesClassName, target];
  return names.flatMap((name) => name || []);
});

/** @see https://kubernetes.io/docs/concepts/storage/volume-attributes-classes/ */
export function attributesProtection(): Definition {
  return defineKeyController({
    name: "volumeattributesclass-protection-controller",
    watches: [
      watch(VolumeAttributesClass, {
        match: (attributes) => isHeld(attributes, ATTRIBUTES_FINALIZER),
        enqueue: (attributes) => [attributes],
      }),
      watch(PersistentVolume, { enqueue: (_, { client }) => client.list(VolumeAttributesClass) }),
      watch(PersistentVolumeClaim, { enqueue: (_, { client }) => client.list(VolumeAttributesClass) }),
    ],
    uses: [allow(VolumeAttributesClass, "patch")],
    async reconcile({ name }, { client }) {
      const attributes = await client.find(VolumeAttributesClass, { name });
      if (attributes === undefined || !isHeld(attributes, ATTRIBUTES_FINALIZER)) return;
      const volumes = await client.list(PersistentVolume, { index: volumesByAttributes.is(name) });
      const claims = await client.list(PersistentVolumeClaim, { index: claimsByAttributes.is(name) });
      if (volumes.length + claims.length === 0)
        await release(VolumeAttributesClass, attributes, { finalizer: ATTRIBUTES_FINALIZER, client });
    },
  });
}
