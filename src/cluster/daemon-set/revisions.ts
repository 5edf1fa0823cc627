/** Finds the revision of a daemon set's template in its history, or creates it. */
import type { Client } from "../../index.ts";
import { ControllerRevision, type DaemonSet, Pod } from "../../resource/builtin/index.ts";
import { createRevision, renumber } from "../revision/history.ts";
import { isSamePatch, templatePatch } from "../revision/template-patch.ts";
import { controlledBy } from "../workload/owner.ts";
import { templateHash } from "../workload/template-hash.ts";
import { HASH_LABEL } from "./daemon-pod.ts";

export interface Revisions {
  /** The revision of the present template. */
  readonly hash: string;
  /** The revisions of earlier templates, oldest first. */
  readonly old: readonly ControllerRevision[];
  /** How many name collisions there have been; `undefined` for none. */
  readonly collisions: number | undefined;
}

export function hashOf({ metadata: { labels, name } }: ControllerRevision): string {
  return labels?.[HASH_LABEL] ?? name;
}

/** Finds or creates the revision. @param history oldest first */
export async function revisionsOf(
  set: DaemonSet,
  history: readonly ControllerRevision[],
  { client, pods }: { readonly client: Client; readonly pods: readonly Pod[] },
): Promise<Revisions> {
  const data = templatePatch(set.spec.template);
  const old = history.filter((revision) => !isSamePatch(revision.data, data));
  const same = history.filter((revision) => isSamePatch(revision.data, data));
  const number = (old.at(-1)?.revision ?? 0) + 1;
  let collisions = set.status?.collisionCount;
  let current = same.at(-1);
  if (current !== undefined) {
    for (const duplicate of same.slice(0, -1)) await replaceWith(current, duplicate, { client, pods });
    if (current.revision < number) current = await renumber(client, current, number); // a rollback brought it back
  }
  while (current === undefined) {
    current = await create(set, client, { data, number, collisions });
    if (current === undefined) collisions = (collisions ?? 0) + 1;
  }
  return { hash: hashOf(current), old, collisions };
}

interface NewRevision {
  readonly data: unknown;
  readonly number: number;
  readonly collisions: number | undefined;
}

function create(
  set: DaemonSet,
  client: Client,
  { data, number, collisions }: NewRevision,
): Promise<ControllerRevision | undefined> {
  const { name, namespace, annotations } = set.metadata;
  const hash = templateHash(set.spec.template, collisions);
  return createRevision(client, {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...set.spec.template.metadata?.labels, [HASH_LABEL]: hash },
      annotations,
      ownerReferences: [controlledBy(set)],
    },
    data: data as ControllerRevision["data"],
    revision: number,
  });
}

/** Merges two revisions with the same template: the pods of the older one now belong to the newer. */
async function replaceWith(
  kept: ControllerRevision,
  { metadata: { name, namespace } }: ControllerRevision,
  { client, pods }: { readonly client: Client; readonly pods: readonly Pod[] },
): Promise<void> {
  const body = { metadata: { labels: { [HASH_LABEL]: hashOf(kept) } } };
  for (const { metadata } of pods) {
    if (metadata.labels?.[HASH_LABEL] === hashOf(kept)) continue;
    await client.patch(Pod, { name: metadata.name, namespace }, { type: "merge", body });
  }
  await client.delete(ControllerRevision, { name, namespace });
}
