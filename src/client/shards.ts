/** The share of the keys on which this replica works, when several replicas divide them. */
import type { SlotSet } from "../cache/slots.ts";
import type { Leadership } from "./leadership.ts";

/**
 * The write gate of a replica that works a share of the keys: it is closed as long as the replica is no member.
 *
 * **Guarantee.** A slot is in `held` of one replica at most, and leaves it before another replica can hold the slot. At
 * a handover it leaves after all participants have dropped it; at the end of the membership it leaves at once.
 */
export interface Shards extends Leadership {
  /** The slots whose keys this replica works now; each change replaces the set. */
  readonly held: SlotSet;
  /** Participants are told in the order in which they joined. */
  join(participant: ShardParticipant): Disposable;
  /** The leadership of the one replica that holds the slot of this name, for work that only one replica does. */
  alone(name: string): Leadership;
}

/** A part of the process that works on the keys of held slots. */
export interface ShardParticipant {
  /** Called with slots that are held from now on, in addition to others. */
  gained?(slots: SlotSet): void;
  /** Called with slots that are not held any more. Resolves when nothing that was begun for them can write. */
  drop?(slots: SlotSet): Promise<void>;
  /** Called when all participants have dropped the slots that are no longer held. */
  dropped?(): void;
}
