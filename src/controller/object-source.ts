/** The interface of daemons and timers, which follow each object of a controller. */
import type { AnyObject } from "../resource/handle.ts";

export interface ObjectSource extends Disposable {
  /** Called when the controller works: objects are examined from now on. */
  open(): void;
  /** Called when the object exists or has changed. */
  look(object: AnyObject, old?: AnyObject): void;
  /** Called when all objects that existed at the opening have been examined. */
  settled?(): void;
  /** Called when the object is deleted or has left the selector. */
  gone(key: string): void;
  /** Ends the work for all objects or for some; it may still write until the end of the grace period. */
  leave(reason: string, isMeant?: (object: AnyObject) => boolean): void;
  /** Ends all work at once, so that it can write nothing more. */
  cancel(reason: string): void;
  /** Resolves when all work that was asked to end has ended. @default it ends at once */
  drained?(isMeant?: (object: AnyObject) => boolean): Promise<void>;
  /** Resolves when all work for the key has ended or can no longer write; `undefined` when there is none. */
  ended?(key: string): Promise<unknown> | undefined;
  /** The work that did not end within the grace period after it was asked to. @default none */
  readonly stuck?: readonly { readonly key: string; readonly since: number }[];
}
