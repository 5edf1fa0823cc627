/** The share of the keys that this replica works, where several replicas divide them. */
import type { SlotSet } from "../cache/slots.ts";
import type { Leadership } from "./leadership.ts";

/**
 * The write gate of a replica that works a share of the keys: it is closed as long as the replica is no member.
 *
 * **Guarantee.** A slot is in `held` of one replica at most, and it is taken out of `held` before anybody else can hold
 * it: when it is handed over, after all participants have dropped it; when the membership ends, at that moment.
 */
export interface Shards extends Leadership {
  /** The slots whose keys this replica works now; each change replaces the set. */
  readonly held: SlotSet;
  /** Participants are told in the order in which they joined. */
  join(participant: ShardParticipant): Disposable;
  /** The leadership of the one replica that holds the slot of this name, for work that is done once. */
  alone(name: string): Leadership;
}

/** A part of the process that works the keys of held slots. */
export interface ShardParticipant {
  /** Called with slots that are held from now on, in addition to others. */
  gained?(slots: SlotSet): void;
  /** Called with slots that are not held any more. Resolves when nothing that was begun for them can write. */
  drop?(slots: SlotSet): Promise<void>;
  /** Called when all participants have dropped the slots that are not held. */
  dropped?(): void;
}
