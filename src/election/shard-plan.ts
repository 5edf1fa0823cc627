/** Which division of the keys a member is to publish next. A pure step: what it sees decides. */
import { type Member, type Publication, sameMembers } from "./shard-publication.ts";

export interface Seen {
  /** Who holds a seat now, this member included; sorted by seat. */
  readonly members: readonly Member[];
  /** What the other members have published. */
  readonly published: readonly Publication[];
  /** What this member has published, or tried to. */
  readonly own: Publication | undefined;
  /** The highest generation that this member has ever tried to publish. */
  readonly generation: number;
}

/**
 * The division among those who are there: one that another member has published and this one may adopt, or a new one.
 *
 * **Guarantee.** A member never publishes two divisions with one generation, nor a lower generation after a higher one.
 * All who see the same members, and what they have published, come to the same division.
 */
export function nextPublication({ members, published, own, generation }: Seen): Publication {
  const isCurrent = own !== undefined && sameMembers(own.members, members);
  let adopted: Publication | undefined;
  let highest = generation;
  for (const other of published) {
    highest = Math.max(highest, other.generation);
    if (!sameMembers(other.members, members)) continue;
    if (adopted === undefined || other.generation > adopted.generation) adopted = other;
  }
  if (adopted !== undefined && adopted.generation > generation) return adopted;
  if (isCurrent && own.generation === generation) return own;
  return { generation: highest + 1, members };
}
