/**
 * Remembers the server's response to a write, for objects that never equal their desired state.
 *
 * The server may normalise a value (a quantity), leave one out, or complete an item of an atomic list, so that the
 * object never equals what was desired. While the values of the desired fields, and the set of fields that we own, are
 * those of the response, the same write would change nothing.
 */
import { fingerprint } from "#runtime/digest";
import type { AnyObject } from "../resource/handle.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { projected } from "./containment.ts";
import { isApplied } from "./managed-fields.ts";

interface Answer {
  readonly uid: string;
  readonly version: string;
  /** A digest of the desired fields, and of the live values of the same fields. */
  readonly values: string;
  /** A digest of the fields that we own. */
  readonly fields: string | undefined;
}

/** The number of applies of the same content within this time that shows that somebody else keeps undoing them. */
const FIGHT = 10;
const WHILE_MS = 60_000;

/** The most remembered objects; without its entry an object is written once more than necessary. */
const MOST = 50_000;

/** The names of desired fields that a child carried before somebody else changed them. */
export interface LostNames {
  readonly uid: string;
  readonly names: string;
}

export class AppliedMemory {
  readonly #lost = new Map<string, LostNames>();
  readonly #answers = new Map<string, Answer>();
  readonly #repeated = new Map<string, { desired: string | undefined; since: number; times: number }>();

  /** Whether applying `desired` would change nothing. Complexity: the size of `desired`. */
  isApplied(id: string, object: AnyObject, state: AppliedState): boolean {
    const { desired, live, fields } = state;
    return (fields !== undefined && isApplied(desired, live, fields)) || this.isAnswered(id, object, state);
  }

  /** Whether the object is still as the server answered a write of the same content. */
  isAnswered(id: string, object: AnyObject, state: AppliedState): boolean {
    const answer = this.#answers.get(id);
    if (answer === undefined || answer.uid !== object.metadata.uid) return false;
    const { fields } = state;
    const isSame = fields === undefined ? answer.version === versionOf(object) : answer.fields === digestOf(fields);
    return isSame && answer.values === valuesOf(state);
  }

  /** Remembers the answer to a write of `desired`. */
  remember(id: string, object: AnyObject, state: AppliedState): void {
    this.#answers.delete(id);
    this.#answers.set(id, {
      uid: object.metadata.uid,
      version: versionOf(object),
      values: valuesOf(state),
      fields: state.fields && digestOf(state.fields),
    });
    if (this.#answers.size <= MOST) return;
    const [oldest] = this.#answers.keys();
    this.#answers.delete(oldest!);
  }

  /**
   * Whether the same content has been applied and undone repeatedly; true at most once a minute. The first apply counts
   * whatever its content is, because nearly every apply is the only one within its minute.
   */
  isFight(id: string, content: unknown, now: number): boolean {
    const repetition = this.#repeated.get(id);
    if (repetition === undefined) {
      this.#repeated.set(id, { desired: undefined, since: now, times: 1 });
      if (this.#repeated.size > MOST) this.#repeated.delete(this.#repeated.keys().next().value!);
      return false;
    }
    const isRecent = now - repetition.since <= WHILE_MS;
    const desired = isRecent ? JSON.stringify(content) : undefined;
    if (isRecent && (repetition.desired ?? desired) === desired) {
      repetition.desired = desired;
      return ++repetition.times === FIGHT;
    }
    repetition.desired = desired;
    repetition.since = now;
    repetition.times = 1;
    return false;
  }

  /**
   * Remembers the names of desired fields that somebody else has removed from a child; only the first removal since the
   * child was written counts.
   */
  keepNames(id: string, lost: LostNames): void {
    if (this.#lost.get(id)?.uid !== lost.uid && this.#lost.size < MOST) this.#lost.set(id, lost);
  }

  /** The names that a child had before somebody else changed them; `undefined` when nobody has since it was written. */
  lostNames(id: string, object: AnyObject): string | undefined {
    const lost = this.#lost.get(id);
    return lost?.uid === object.metadata.uid ? lost.names : undefined;
  }

  /** Forgets the answer, because the object was written since. */
  forgetAnswer(id: string): void {
    this.#answers.delete(id);
    this.#lost.delete(id);
  }

  forget(id: string): void {
    this.forgetAnswer(id);
    this.#repeated.delete(id);
  }
}
/** A desired value, the live value of the same field, and the fields of it that we own. */
export interface AppliedState {
  readonly desired: unknown;
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
}

function valuesOf({ desired, live }: AppliedState): string {
  return digestOf([desired, projected(desired, live)]);
}

function digestOf(value: object): string {
  return fingerprint(JSON.stringify(value));
}

function versionOf(object: AnyObject): string {
  return object.metadata.resourceVersion;
}
