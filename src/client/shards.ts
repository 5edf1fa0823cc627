/** The share of the keys that this replica works, where several replicas divide them. */
import type { SlotSet } from "../cache/slots.ts";
import type { Leadership } from "./leadership.ts";

/**
 * The write gate of a replica that works a share of the keys: it is closed as long as the replica is no member.
 *
 * **Guarantee.** A slot is in `held` of one replica at most, and it is taken out of `held` before anybody else can hold it:
 * when it is handed over, after all participants have dropped it; when the membership ends, at that moment.
 */
export interface Shards extends Leadership {
  /** What may be worked now; another set after each change. */
  readonly held: SlotSet;
  /** Participants are told in the order in which they joined. */
  join(participant: ShardParticipant): Disposable;
  /** Led by the one replica that holds the slot of this name: for what is to be done once. */
  alone(name: string): Leadership;
}

/** Works what is held. */
export interface ShardParticipant {
  /** These are held from now on, besides others. */
  gained?(slots: SlotSet): void;
  /** These are not held any more. Resolves when nothing that was begun for them can write. */
  drop?(slots: SlotSet): Promise<void>;
  /** All participants have dropped what is not held. */
  dropped?(): void;
}
