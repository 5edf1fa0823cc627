/** The publication of a member in its Lease: the replicas among which it considers the keys to be divided. */
import { holderOf, type Lease, shownHolder } from "./lease.ts";

/** The label of a Lease with its group. */
export const GROUP_LABEL = "binnacle.dev/shards";
/** The annotation of a Lease with its holder's publication. */
const PUBLICATION_ANNOTATION = "binnacle.dev/division";
/** The annotation of a Lease with the milliseconds for which its holder works after the beginning of a renewal. */
const DEADLINE_ANNOTATION = "binnacle.dev/renew-deadline";

/** A division of the keys, which takes effect once every member has published it. */
export interface Publication {
  /** Increases with each publication of a member, independently of other members. */
  readonly generation: number;
  /** The members, sorted by seat. */
  readonly members: readonly Member[];
}

/** A replica in a seat, from the moment it takes the seat until it loses it; it never becomes the same member again. */
export interface Member {
  readonly seat: number;
  /** The number of times that the seat was taken. */
  readonly transitions: number;
  readonly identity: string;
}

export function sameMember(one: Member, other: Member): boolean {
  return one.seat === other.seat && one.transitions === other.transitions && one.identity === other.identity;
}

function sameMembers(one: readonly Member[], other: readonly Member[]): boolean {
  return one.length === other.length && one.every((member, at) => sameMember(member, other[at]!));
}

export function samePublication(one: Publication | undefined, other: Publication | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.generation === other.generation && sameMembers(one.members, other.members);
}

/** Returns the member in a seat; `undefined` when nobody holds it. */
export function memberOf(seat: number, lease: Lease | undefined): Member | undefined {
  // Identities are shortened, because annotations are limited in size and whoever may write Leases could exceed that.
  const identity = shownHolder(holderOf(lease));
  return identity === "" ? undefined : { seat, transitions: lease?.spec?.leaseTransitions ?? 0, identity };
}

/** Returns the publication of the holder of a Lease; `undefined` when there is no readable one. */
export function publicationOf(lease: Lease | undefined): Publication | undefined {
  const text = lease?.metadata.annotations?.[PUBLICATION_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { generation, members } = JSON.parse(text) as { generation: unknown; members: unknown };
    if (!Number.isSafeInteger(generation) || !Array.isArray(members)) return undefined;
    return { generation: generation as number, members: members.map(parseMember) };
  } catch {
    return undefined;
  }
}

/** Returns the holder's renew deadline in milliseconds; `undefined` when the Lease does not contain one. */
export function deadlineOf(lease: Lease): number | undefined {
  const milliseconds = Number(lease.metadata.annotations?.[DEADLINE_ANNOTATION]);
  return milliseconds > 0 ? milliseconds : undefined;
}

export interface Holder {
  readonly group: string;
  /** The renew deadline in milliseconds. */
  readonly renewDeadline: number;
}

/** Returns a Lease with a publication, or without one, and with the holder's renew deadline. */
export function publishing(
  lease: Lease,
  publication: Publication | undefined,
  { group, renewDeadline }: Holder,
): Lease {
  const { [PUBLICATION_ANNOTATION]: _, ...known } = lease.metadata.annotations ?? {};
  const others = { ...known, [DEADLINE_ANNOTATION]: String(renewDeadline) };
  const annotations = publication === undefined ? others : { ...others, [PUBLICATION_ANNOTATION]: textOf(publication) };
  const labels = { ...lease.metadata.labels, [GROUP_LABEL]: group };
  return { ...lease, metadata: { ...lease.metadata, labels, annotations } };
}

function textOf({ generation, members }: Publication): string {
  return JSON.stringify({
    generation,
    members: members.map(({ seat, transitions, identity }) => `${seat}/${transitions}/${identity}`),
  });
}

function parseMember(text: unknown): Member {
  const [, seat, transitions, identity] = /^(\d+)\/(\d+)\/(.+)$/s.exec(String(text)) ?? [];
  if (identity === undefined) throw new SyntaxError("no member");
  return { seat: Number(seat), transitions: Number(transitions), identity };
}

/** The facts from which a member decides on its next publication. */
interface Situation {
  /** The present holders of seats, including this member, sorted by seat. */
  readonly members: readonly Member[];
  /** The publications of the other members. */
  readonly published: readonly Publication[];
  /** The publication that this member has written, or tried to write. */
  readonly own: Publication | undefined;
  /** The highest generation that this member has ever tried to publish. */
  readonly generation: number;
}

/**
 * Returns the division among the present members: one that another member has published and this one may adopt, or a
 * new one.
 *
 * **Guarantee.** A member never publishes two divisions with one generation, nor a lower generation after a higher one.
 * All members that see the same members and publications arrive at the same division.
 */
export function nextPublication({ members, published, own, generation }: Situation): Publication {
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
