/**
 * Remembers what this process applied where the object alone does not show it.
 *
 * The server may normalise a value (a quantity) or complete an item of an atomic list, so that the object never equals what
 * was applied. The response to such an apply is remembered: while our fields are still those of the response, applying the
 * same content again needs no request.
 */
import type { AnyObject } from "../resource/handle.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { isApplied } from "./managed-fields.ts";

interface Applied {
  readonly uid: string;
  readonly version: string;
  readonly desired: string;
  readonly fields: string;
}

/** This many applies of the same content within this time mean that somebody else keeps undoing them. */
const FIGHT = 10;
const WHILE_MS = 60_000;

/** The most remembered objects; without its entry an object is applied once more than necessary. */
const MOST = 50_000;

export class AppliedMemory {
  readonly #applied = new Map<string, Applied>();
  readonly #repeated = new Map<string, { desired: string | undefined; since: number; times: number }>();

  /** Whether applying `desired` would change nothing. Complexity: the size of `desired`. */
  isApplied(id: string, object: AnyObject, state: AppliedState): boolean {
    const { desired, live, fields } = state;
    if (fields !== undefined && isApplied(desired, live, fields)) return true;
    const known = this.#applied.get(id);
    if (known === undefined || known.uid !== object.metadata.uid) return false;
    const isSame = fields === undefined ? known.version === versionOf(object) : known.fields === JSON.stringify(fields);
    return isSame && known.desired === JSON.stringify(desired);
  }

  /** Remembers the response to an apply of `desired`; `always` when the cache may not show the fields that we own. */
  remember(id: string, object: AnyObject, state: AppliedState & { readonly always?: boolean }): void {
    const { desired, live, fields, always = false } = state;
    this.#applied.delete(id);
    if (!always && (fields === undefined || isApplied(desired, live, fields))) return;
    this.#applied.set(id, {
      uid: object.metadata.uid,
      version: versionOf(object),
      desired: JSON.stringify(desired),
      fields: JSON.stringify(fields),
    });
    if (this.#applied.size <= MOST) return;
    const [oldest] = this.#applied.keys();
    this.#applied.delete(oldest!);
  }

  /**
   * Whether the same content has been applied and undone repeatedly; true at most once a minute. The first of the applies
   * counts whatever its content is, because nearly all are the only one within their minute.
   */
  isFight(id: string, content: unknown, now: number): boolean {
    const known = this.#repeated.get(id);
    if (known === undefined) {
      this.#repeated.set(id, { desired: undefined, since: now, times: 1 });
      if (this.#repeated.size > MOST) this.#repeated.delete(this.#repeated.keys().next().value!);
      return false;
    }
    const isRecent = now - known.since <= WHILE_MS;
    const desired = isRecent ? JSON.stringify(content) : undefined;
    if (isRecent && (known.desired ?? desired) === desired) {
      known.desired = desired;
      return ++known.times === FIGHT;
    }
    known.desired = desired;
    known.since = now;
    known.times = 1;
    return false;
  }

  /** Forgets what was applied, because the object was written since. */
  forgetApplied(id: string): void {
    this.#applied.delete(id);
  }

  forget(id: string): void {
    this.#applied.delete(id);
    this.#repeated.delete(id);
  }
}
/** A desired value, the live value in its place, and the fields of it that we own. */
export interface AppliedState {
  readonly desired: unknown;
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
}

function versionOf(object: AnyObject): string {
  return object.metadata.resourceVersion;
}
