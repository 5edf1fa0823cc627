/** Decides which division a member publishes next. It is a pure function of what the member sees. */
import { type Member, type Publication, sameMembers } from "./shard-publication.ts";

export interface Seen {
  /** The present holders of seats, including this member, sorted by seat. */
  readonly members: readonly Member[];
  /** What the other members have published. */
  readonly published: readonly Publication[];
  /** What this member has published, or tried to. */
  readonly own: Publication | undefined;
  /** The highest generation that this member has ever tried to publish. */
  readonly generation: number;
}

/**
 * Returns the division among the present members: one that another member has published and this one may adopt, or a
 * new one.
 *
 * **Guarantee.** A member never publishes two divisions with one generation, nor a lower generation after a higher
 * one. All who see the same members and publications arrive at the same division.
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
