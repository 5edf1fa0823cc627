/** Finds the pods of a workload: those that it controls and the orphans that it adopts. */
import { type Client, defineIndex, type Resource } from "../../index.ts";
import { Pod } from "../../resource/builtin/index.ts";
import { type LabelSelectorObject, labelSelector } from "../../resource/selector.ts";
import { claim } from "./claim.ts";
import { controllerOf, controllerUid, orphansOf, type Owner } from "./owner.ts";

const byController = defineIndex(Pod, "controller", controllerUid);

/** Selects the pods of a workload. */
export interface Selecting {
  readonly selector: LabelSelectorObject | undefined;
  /** A further condition for a pod. @default none */
  readonly isMember?: ((pod: Pod) => boolean) | undefined;
}

/** Whether a workload selects a pod. */
export function isSelectedBy({ selector, isMember }: Selecting, pod: Pod): boolean {
  return selector !== undefined && labelSelector(selector).matches(pod.metadata.labels) && isMember?.(pod) !== false;
}

/** Whether a pod has no controller, so that a workload may adopt it. */
export function isOrphan(pod: Pod): boolean {
  return controllerOf(pod) === undefined;
}

/** The pods that an object controls. */
export function controlledPods(
  { metadata: { uid, namespace } }: Pick<Owner, "metadata">,
  { client }: { readonly client: Pick<Client, "list"> },
): Promise<readonly Pod[]> {
  return client.list(Pod, { namespace, index: byController.is(uid) });
}

interface Owning extends Selecting {
  readonly client: Client;
  readonly ownerKind: Resource;
  /** A finalizer that adopted pods get and released ones lose. @default none */
  readonly finalizer?: string | undefined;
}

/** Adopts and releases pods according to the selector, and returns the owner's own. */
export async function ownedPods(owner: Owner, options: Owning): Promise<Pod[]> {
  const { client } = options;
  const { namespace } = owner.metadata;
  const [own, orphans] = await Promise.all([
    controlledPods(owner, options),
    client.list(Pod, { namespace, index: byController.is(orphansOf(namespace)) }),
  ]);
  return claim(owner, [...own, ...orphans], { ...options, kind: Pod, isSelected: (pod) => isSelectedBy(options, pod) });
}
