/** Finds the templates of a stateful set: the one that its pods have, and the one that they are to get. */
import type { Client } from "../../index.ts";
import type { ControllerRevision, ControllerRevisionInput, StatefulSet } from "../../resource/builtin/index.ts";
import { createRevision, renumber } from "../revision/history.ts";
import { isSamePatch, patchHash, templatePatch } from "../revision/template-patch.ts";
import { controlledBy } from "../workload/owner.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";

export interface Revisions {
  /** The revision that all pods have when no update is under way. */
  readonly current: ControllerRevision;
  /** The revision of the set's own template. */
  readonly update: ControllerRevision;
  /** How many name collisions there have been. */
  readonly collisions: number;
}

/** Finds the revision of the set's template among its history, oldest first, or makes it. */
export async function revisionsOf(
  set: StatefulSet,
  history: readonly ControllerRevision[],
  client: Client,
): Promise<Revisions> {
  const data = templatePatch(set.spec.template);
  const newest = history.at(-1);
  const equal = history.findLast((revision) => isSamePatch(revision.data, data));
  const number = (newest?.revision ?? 0) + 1;
  let collisions = set.status?.collisionCount ?? 0;
  let update: ControllerRevision | undefined;
  if (equal !== undefined) update = equal === newest ? equal : await renumber(client, equal, number); // a rollback brought it back
  while (update === undefined) {
    update = await createRevision(client, newRevision(set, { data, number, collisions }));
    if (update === undefined) collisions++;
  }
  const current = history.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return { current: current.metadata.name === update.metadata.name ? update : current, update, collisions };
}

interface NewRevision {
  readonly data: unknown;
  readonly number: number;
  readonly collisions: number;
}

function newRevision(set: StatefulSet, { data, number, collisions }: NewRevision): ControllerRevisionInput {
  const { name, namespace, annotations } = set.metadata;
  const hash = patchHash(data, collisions);
  return {
    metadata: {
      name: `${name.slice(0, 223)}-${hash}`,
      namespace,
      labels: { ...set.spec.template.metadata?.labels, [HASH_LABEL]: hash },
      annotations,
      ownerReferences: [controlledBy(set)],
    },
    data: data as ControllerRevisionInput["data"],
    revision: number,
  };
}
