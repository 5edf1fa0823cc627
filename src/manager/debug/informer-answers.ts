/** The informers of a process, as the debug listener shows them. */
import type { InformerRegistry } from "../../cache/informer-registry.ts";
import type { SharedInformer } from "../../cache/shared-informer.ts";
import { readableAge } from "../../observe/readable-units.ts";
import type { InformerAnswer } from "../../server/debug/answers.ts";
import { kindAnswer } from "./kind-names.ts";

/**
 * Milliseconds without any event or bookmark after which a watch counts as stalled, as in the alert of that name. The
 * API server sends bookmarks about once a minute; a healthy watch was heard from after 107 s at the latest.
 */
const STALLED_AFTER = 150_000;

/** Returns the informers ordered by their sizes, the largest first. Walks their stores. */
export function informerAnswers(
  informers: Pick<InformerRegistry, "all" | "usersOf">,
  now: number,
): readonly InformerAnswer[] {
  return Array.from(informers.all(), (informer) => informerAnswer(informer, informers.usersOf(informer), now)).sort(
    (a, b) => b.bytes - a.bytes,
  );
}

function informerAnswer(informer: SharedInformer, users: readonly string[], now: number): InformerAnswer {
  const { state, lastEventAt, id, selector } = informer;
  const age = state.kind === "watching" && lastEventAt !== undefined ? now - lastEventAt : 0;
  const isStalled = age > STALLED_AFTER;
  const at = id.indexOf("#");
  return {
    kind: kindAnswer(informer.resource),
    selector,
    keep: at < 0 ? undefined : id.slice(at + 1),
    users,
    state: isStalled ? "stalled" : state.kind,
    message: isStalled
      ? `its watch has been silent for ${readableAge(age)}, without a bookmark: changes may be missing until it is replaced`
      : "message" in state
        ? state.message
        : undefined,
    hasSynced: informer.hasSynced,
    objects: informer.store.size,
    bytes: informer.bytes,
    lastEvent: lastEventAt === undefined ? undefined : new Date(lastEventAt).toISOString(),
    relists: informer.relists,
    differences: informer.differences,
  };
}
