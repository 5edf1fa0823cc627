/** Finds the templates of a stateful set: the one that its pods have, and the one that they are to get. */
import type { Client } from "../../index.ts";
import type { ControllerRevision, StatefulSet } from "../../resource/builtin/index.ts";
import { historyOf } from "../revision/history.ts";
import { patchHash, templatePatch } from "../revision/template-patch.ts";

export interface Revisions {
  /** The revision that all pods have when no update is under way. */
  readonly current: ControllerRevision;
  /** The revision of the set's own template. */
  readonly update: ControllerRevision;
  /** The number of name collisions. */
  readonly collisions: number;
}

/** Finds both among the set's history, oldest first. */
export async function revisionsOf(
  set: StatefulSet,
  history: readonly ControllerRevision[],
  client: Client,
): Promise<Revisions> {
  const { newest: update, collisions = 0 } = await historyOf(set, history, {
    client,
    hashLabel: "controller.kubernetes.io/hash",
    hashOf: (template, collisions = 0) => patchHash(templatePatch(template), collisions),
    longestName: 223,
  });
  const current = history.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return { current: current.metadata.name === update.metadata.name ? update : current, update, collisions };
}
