// Deletes a claim that pods use only when the last of these pods is gone. This controller shows a finalizer that the
// API server adds, and objects of other owners that decide when it is removed.
import { allow, defineIndex, type Definition, defineKeyController, watch } from "../../index.ts";
import { PersistentVolumeClaim, Pod } from "../../resource/builtin/index.ts";
import { isHeld, release } from "./held.ts";

const FINALIZER = "kubernetes.io/pvc-protection";

/** The index of pods by the claims that they mount. */
const byClaim = defineIndex(Pod, "claims", claimsOf);

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection */
export function claimProtection(): Definition {
  return defineKeyController({
    name: "pvc-protection-controller",
    watches: [
      watch(PersistentVolumeClaim, { match: (claim) => isHeld(claim, FINALIZER), enqueue: (claim) => [claim] }),
      watch(Pod, {
        on: ({ type }) => type === "delete",
        enqueue: (pod) => claimsOf(pod).map((name) => ({ name, namespace: pod.metadata.namespace })),
      }),
    ],
    uses: [allow(PersistentVolumeClaim, "patch")],
    async reconcile({ name, namespace = "" }, { client }) {
      const claim = await client.find(PersistentVolumeClaim, { name, namespace });
      if (claim === undefined || !isHeld(claim, FINALIZER)) return;
      const users = await client.list(Pod, { namespace, index: byClaim.is(name) });
      // A kubelet does not start a pod whose claim is being deleted, so only pods that have a node can use it.
      if (!users.some(({ spec }) => spec.nodeName))
        await release(PersistentVolumeClaim, claim, { finalizer: FINALIZER, client });
    },
  });
}

function claimsOf({ spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}
