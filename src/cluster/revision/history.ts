/** The history of a set: each template that it had is a ControllerRevision that it owns. */
import { type Client, defineIndex, isAlreadyExists } from "../../index.ts";
import { ControllerRevision, type ControllerRevisionInput } from "../../resource/builtin/index.ts";
import { controllerUid, orphansOf, type Owner } from "../workload/owner.ts";
import { isSamePatch } from "./template-patch.ts";

const byController = defineIndex(ControllerRevision, "controller", controllerUid);

/** Lists the revisions that an owner controls and the orphans of its namespace, oldest first. */
export async function historyCandidates(client: Client, { metadata }: Owner): Promise<ControllerRevision[]> {
  const { uid, namespace } = metadata;
  const [own, orphans] = await Promise.all([
    client.list(ControllerRevision, { namespace, index: byController.is(uid) }),
    client.list(ControllerRevision, { namespace, index: byController.is(orphansOf(namespace)) }),
  ]);
  return [...own, ...orphans].sort(byAge);
}

/** Orders revisions by number, then by age. */
function byAge(a: ControllerRevision, b: ControllerRevision): number {
  const age = Date.parse(a.metadata.creationTimestamp ?? "") - Date.parse(b.metadata.creationTimestamp ?? "");
  return a.revision - b.revision || age || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** Creates a revision; `undefined` when its name is taken by one with different content. */
export async function createRevision(
  client: Client,
  revision: ControllerRevisionInput,
): Promise<ControllerRevision | undefined> {
  try {
    return await client.create(ControllerRevision, revision);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { name, namespace = "" } = revision.metadata;
    const present = await client.live.get(ControllerRevision, { name, namespace });
    return isSamePatch(present.data, revision.data) ? present : undefined;
  }
}

/** Gives a revision a new number, because the template of an earlier one is the newest again. */
export function renumber(
  client: Client,
  { metadata }: ControllerRevision,
  revision: number,
): Promise<ControllerRevision> {
  const { name, namespace } = metadata;
  return client.edit(ControllerRevision, { name, namespace }, (draft) => {
    draft.revision = revision;
  });
}

/** Deletes the oldest unused revisions beyond `limit`. */
export async function truncateHistory(
  client: Client,
  unused: readonly ControllerRevision[],
  limit: number,
): Promise<void> {
  for (const { metadata } of unused.slice(0, Math.max(0, unused.length - limit))) {
    const { name, namespace } = metadata;
    await client.delete(ControllerRevision, { name, namespace });
  }
}
