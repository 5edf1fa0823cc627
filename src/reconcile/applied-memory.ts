/**
 * What this process applied and cannot recognise from the fields alone.
 *
 * The server may spell a value differently from the author (a quantity) or complete an item of an atomic list. Then the
 * object never looks like what was applied. So the answer to such an apply is remembered: the same desire, while our
 * fields are still those of the answer, needs no other request.
 */
import type { AnyObject } from "../resource/handle.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { isApplied } from "./managed-fields.ts";

interface Applied {
  readonly uid: string;
  readonly desired: string;
  readonly fields: string;
}

export class AppliedMemory {
  readonly #applied = new Map<string, Applied>();

  /** Whether applying `desired` would change nothing. Complexity: the size of `desired`. */
  isApplied(id: string, object: AnyObject, state: AppliedState): boolean {
    const { desired, live, fields } = state;
    if (fields === undefined) return false;
    if (isApplied(desired, live, fields)) return true;
    const known = this.#applied.get(id);
    return (
      known !== undefined &&
      known.uid === object.metadata.uid &&
      known.fields === JSON.stringify(fields) &&
      known.desired === JSON.stringify(desired)
    );
  }

  /** Takes the answer to an apply of `desired`. */
  remember(id: string, object: AnyObject, state: AppliedState): void {
    const { desired, live, fields } = state;
    if (fields === undefined || isApplied(desired, live, fields)) {
      this.#applied.delete(id);
    } else {
      const { uid } = object.metadata;
      this.#applied.set(id, { uid, desired: JSON.stringify(desired), fields: JSON.stringify(fields) });
    }
  }

  forget(id: string): void {
    this.#applied.delete(id);
  }
}

/** A desired value, what is there in its place, and the fields of it that we own. */
export interface AppliedState {
  readonly desired: unknown;
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
}
