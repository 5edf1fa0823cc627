/** The informers of a process, as the debug listener shows them. */
import type { InformerRegistry } from "../../cache/informer-registry.ts";
import type { SharedInformer } from "../../cache/shared-informer.ts";
import type { InformerAnswer } from "../../server/debug/answers.ts";
import { kindAnswer } from "./kind-names.ts";

/** Returns the informers ordered by their sizes, the largest first. Walks their stores. */
export function informerAnswers(informers: Pick<InformerRegistry, "all" | "usersOf">): readonly InformerAnswer[] {
  return Array.from(informers.all(), (informer) => informerAnswer(informer, informers.usersOf(informer))).sort(
    (a, b) => b.bytes - a.bytes,
  );
}

function informerAnswer(informer: SharedInformer, users: readonly string[]): InformerAnswer {
  const { state, lastEventAt, id, selector } = informer;
  const at = id.indexOf("#");
  return {
    kind: kindAnswer(informer.resource),
    selector,
    keep: at < 0 ? undefined : id.slice(at + 1),
    users,
    state: state.kind,
    message: "message" in state ? state.message : undefined,
    hasSynced: informer.hasSynced,
    objects: informer.store.size,
    bytes: informer.bytes,
    lastEvent: lastEventAt === undefined ? undefined : new Date(lastEventAt).toISOString(),
    relists: informer.relists,
    differences: informer.differences,
  };
}
