/** What a member of a shard group says in its Lease: the members among whom it takes the keys to be divided. */
import { holderOf, type Lease } from "./lease.ts";

/** On a Lease: the group that it belongs to. */
export const GROUP_LABEL = "binnacle.dev/shards";
/** On a Lease: what its holder publishes. */
const PUBLICATION_ANNOTATION = "binnacle.dev/division";
/** On a Lease: for how many milliseconds after the beginning of a renewal its holder works. */
const DEADLINE_ANNOTATION = "binnacle.dev/renew-deadline";

/** A division of the keys, which counts once every member has published it. */
export interface Publication {
  /** Rises with each publication of a member, and says nothing about another member's. */
  readonly generation: number;
  /** Sorted by seat. */
  readonly members: readonly Member[];
}

/** One replica in one seat, from when it took the seat until it loses it: nobody is ever the same member again. */
export interface Member {
  readonly seat: number;
  /** How often the seat was taken. */
  readonly transitions: number;
  readonly identity: string;
}

export function sameMember(one: Member, other: Member): boolean {
  return one.seat === other.seat && one.transitions === other.transitions && one.identity === other.identity;
}

export function sameMembers(one: readonly Member[], other: readonly Member[]): boolean {
  return one.length === other.length && one.every((member, at) => sameMember(member, other[at]!));
}

export function samePublication(one: Publication | undefined, other: Publication | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.generation === other.generation && sameMembers(one.members, other.members);
}

/** Who holds a seat; `undefined` when nobody does. */
export function memberOf(seat: number, lease: Lease | undefined): Member | undefined {
  const identity = holderOf(lease);
  return identity === "" ? undefined : { seat, transitions: lease?.spec?.leaseTransitions ?? 0, identity };
}

/** What the holder of a Lease has published; `undefined` for nothing, and for what cannot be read. */
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

/** The holder's renew deadline in milliseconds; `undefined` when the Lease does not say. */
export function deadlineOf(lease: Lease): number | undefined {
  const milliseconds = Number(lease.metadata.annotations?.[DEADLINE_ANNOTATION]);
  return milliseconds > 0 ? milliseconds : undefined;
}

export interface Holder {
  readonly group: string;
  /** Milliseconds. */
  readonly renewDeadline: number;
}

/** A Lease that carries a publication, or none, and what others have to know of its holder. */
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
  const [, seat, transitions, identity] = /^(\d+)\/(\d+)\/(.+)$/.exec(String(text)) ?? [];
  if (identity === undefined) throw new SyntaxError("no member");
  return { seat: Number(seat), transitions: Number(transitions), identity };
}
