/** Who is told of an informer's changes. */
import type { AnyObject } from "../resource/handle.ts";

export interface AddEvent {
  /** The object was there when the informer, or this handler, began. */
  readonly isInInitialList: boolean;
  /** Who in this process wrote it; `undefined` for a change from outside. */
  readonly origin?: string | undefined;
}

export interface UpdateEvent {
  readonly origin?: string | undefined;
  /**
   * Until now only what this process wrote of the object was told: whoever takes no notice of own writes sees it for the
   * first time.
   */
  readonly isFirstFromOutside?: boolean | undefined;
}

export interface DeleteEvent {
  /** The deletion itself was not seen: the object is the last known state. */
  readonly stateUnknown: boolean;
  readonly origin?: string | undefined;
}

/**
 * Called synchronously, in order, after the store has changed. What it throws is logged and counted.
 *
 * **Guarantees.** Each object is told as new once, before anything else of it, whenever the handler was added. An object
 * of which no user of the informer needs more than its key does not exist for handlers: it is new to them when somebody
 * begins to need it, and gone when nobody does any more.
 */
export interface InformerHandler {
  onAdd(object: AnyObject, event: AddEvent): void;
  /** Also called for a resync, with one object as both. */
  onUpdate(object: AnyObject, old: AnyObject, event: UpdateEvent): void;
  onDelete(object: AnyObject, event: DeleteEvent): void;
}

export interface HandlerOptions {
  /** Who it is, in the log. */
  readonly name: string;
  /** Milliseconds between updates for every object without a change. @default never */
  readonly resync?: number | undefined;
}

/** Removes its handler when disposed, also twice. */
export interface HandlerRegistration extends Disposable {
  /**
   * This handler has been told of every object of the initial list. Where it was added together with needs that the
   * objects kept so far do not meet, that is the list which brings the rest of them.
   */
  readonly hasSynced: boolean;
}
