/** Finds the revision of a daemon set's template in its history, or creates it. */
import type { Client } from "../../index.ts";
import { ControllerRevision, type DaemonSet, Pod } from "../../resource/builtin/index.ts";
import { historyOf } from "../revision/history.ts";
import { templateHash } from "../revision/template-patch.ts";
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
  const names = { hashLabel: HASH_LABEL, hashOf: templateHash };
  const { newest, duplicates, others, collisions } = await historyOf(set, history, { client, ...names });
  for (const duplicate of duplicates) await replaceWith(newest, duplicate, { client, pods });
  return { hash: hashOf(newest), old: others, collisions };
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
