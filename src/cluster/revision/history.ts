/** The history of a set: each template that it had is a ControllerRevision that it owns. */
import { type Client, isAlreadyExists } from "../../index.ts";
import {
  ControllerRevision,
  type ControllerRevisionInput,
  type PodTemplateSpec,
} from "../../resource/builtin/index.ts";
import { byAge, controlledBy, type Owner } from "../workload/owner.ts";
import { isSamePatch, templatePatch } from "./template-patch.ts";

/** Orders revisions by number, then by age. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  return a.revision - b.revision || byAge(a, b);
}

/** A set whose templates are kept. */
interface Revised extends Owner {
  readonly metadata: Owner["metadata"] & { readonly annotations?: Readonly<Record<string, string>> | undefined };
  readonly spec: { readonly template: PodTemplateSpec };
  readonly status?: { readonly collisionCount?: number | undefined } | undefined;
}

/** How the revisions of a kind of sets are named. */
interface RevisionNames {
  readonly hashLabel: string;
  /** Hashes a template; `collisions` yields another hash of the same one. */
  readonly hashOf: (template: PodTemplateSpec, collisions: number | undefined) => string;
  /** The longest part of the set's name in the name of a revision. @default the whole name */
  readonly longestName?: number | undefined;
}

export interface History {
  /** The revision of the set's own template. */
  readonly newest: ControllerRevision;
  /** Other revisions of the same template, which only somebody else can have made. */
  readonly duplicates: readonly ControllerRevision[];
  /** The revisions of other templates, oldest first. */
  readonly others: readonly ControllerRevision[];
  /** The number of name collisions; `undefined` for none. */
  readonly collisions: number | undefined;
}

/** Finds the revision of the set's template among its revisions, oldest first, or makes it. */
export async function historyOf(
  set: Revised,
  revisions: readonly ControllerRevision[],
  { client, hashLabel, hashOf, longestName }: RevisionNames & { readonly client: Client },
): Promise<History> {
  const { template } = set.spec;
  const data = templatePatch(template);
  const others = revisions.filter((revision) => !isSamePatch(revision.data, data));
  const duplicates = revisions.filter((revision) => isSamePatch(revision.data, data));
  const revision = revisionAfter(others.at(-1)?.revision ?? 0);
  let collisions = set.status?.collisionCount;
  let newest = duplicates.pop();
  if (newest !== undefined && newest.revision < revision) newest = await renumber(client, newest, revision); // a rollback brought it back
  while (newest === undefined) {
    const hash = hashOf(template, collisions);
    const { name, namespace, annotations } = set.metadata;
    const metadata = {
      name: `${name.slice(0, longestName)}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      annotations,
      ownerReferences: [controlledBy(set)],
    };
    newest = await createRevision(client, { metadata, data, revision });
    if (newest === undefined) collisions = (collisions ?? 0) + 1;
  }
  return { newest, duplicates, others, collisions };
}

/** Returns the next number; beyond 2^53 the next one that JavaScript can represent, so that the order is still that of age. */
function revisionAfter(last: number): number {
  let next = last + 1;
  for (let step = 2; next === last; step *= 2) next = last + step;
  return next;
}

/** Creates a revision; `undefined` when its name is taken by one with different content. */
async function createRevision(
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
function renumber(client: Client, { metadata }: ControllerRevision, revision: number): Promise<ControllerRevision> {
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
