/** The pods of a workload: those that it controls, and the orphans that it adopts. */
import { type Client, defineIndex, type Resource } from "../../../index.ts";
import { Pod } from "../../../resource/builtin/index.ts";
import { type LabelSelectorObject, labelSelector } from "../../../resource/selector.ts";
import { claim } from "./claim.ts";
import { controllerOf, controllerUid, orphansOf, type Owner } from "./owner.ts";

const byController = defineIndex(Pod, "controller", controllerUid);

/** What tells the pods of a workload from others. */
export interface Selecting {
  readonly selector: LabelSelectorObject | undefined;
  /** What else a pod must be. @default nothing */
  readonly isMember?: ((pod: Pod) => boolean) | undefined;
}

/** Whether a workload takes a pod for its own. */
export function isSelectedBy({ selector, isMember }: Selecting, pod: Pod): boolean {
  return selector !== undefined && labelSelector(selector).matches(pod.metadata.labels) && isMember?.(pod) !== false;
}

/** A pod without a controller may be one that a workload adopts. */
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
  /** What is adopted gets it, what is released loses it. @default none */
  readonly finalizer?: string | undefined;
}

/** Adopts and releases pods as the selector says, and returns the owner's own. */
export async function ownedPods(owner: Owner, options: Owning): Promise<Pod[]> {
  const { client } = options;
  const { namespace } = owner.metadata;
  const [own, orphans] = await Promise.all([
    controlledPods(owner, options),
    client.list(Pod, { namespace, index: byController.is(orphansOf(namespace)) }),
  ]);
  return claim(owner, [...own, ...orphans], { ...options, kind: Pod, isSelected: (pod) => isSelectedBy(options, pod) });
}
