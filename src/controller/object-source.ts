/** What follows each object of a controller: its daemons and its timer. */
import type { AnyObject } from "../resource/handle.ts";

export interface ObjectSource extends Disposable {
  /** From now on objects are looked at: the controller works. */
  open(): void;
  /** The object is there, or has changed. */
  look(object: AnyObject, old?: AnyObject): void;
  /** All objects that were there when it was opened have been looked at. */
  settled?(): void;
  /** The object is gone, or has left the selector. */
  gone(key: string): void;
  /** Ends what goes on, for all objects or for some; it may still write until the end of the grace period. */
  leave(reason: string, isMeant?: (object: AnyObject) => boolean): void;
  /** Ends what goes on at once: nothing can be written any more. */
  cancel(reason: string): void;
  /** Resolves when what was told to end has ended. */
  drained(isMeant?: (object: AnyObject) => boolean): Promise<void>;
  /** Resolves when nothing goes on for the key any more, or can write; `undefined` when nothing does. */
  ended(key: string): Promise<unknown> | undefined;
  /** What was told to end and has not within the grace period. */
  readonly stuck: readonly { readonly key: string; readonly since: number }[];
}
