/** The event handlers of an informer. */
import type { AnyObject } from "../resource/handle.ts";

export interface AddEvent {
  /** The object existed when the informer started or the handler was added. */
  readonly isInInitialList: boolean;
  /** The writer in this process; `undefined` for a change from outside. */
  readonly origin?: string | undefined;
}

export interface UpdateEvent {
  readonly origin?: string | undefined;
  /**
   * Whether handlers have so far received only this process's own writes to the object: a handler that ignores own
   * writes sees it for the first time.
   */
  readonly isFirstFromOutside?: boolean | undefined;
}

export interface DeleteEvent {
  /** The deletion itself was not seen, so the object is the last known state. */
  readonly stateUnknown: boolean;
  readonly origin?: string | undefined;
  /**
   * Whether the server has confirmed to this process that the object is gone. Otherwise it may have left the informer's
   * set, which the server reports in the same way.
   */
  readonly isGone?: boolean | undefined;
  /** Whether the object still exists, and another replica works on it from now on. */
  readonly isElsewhere?: boolean | undefined;
}

/**
 * Called synchronously and in order, after the store has changed. An error that it throws is logged and counted.
 *
 * **Guarantees.** `onAdd` is called once for each object, before any other call for it, whenever the handler is added,
 * unless it replaces one that received the call. An object of which no user of the informer needs more than its key
 * does not exist for handlers: it is added once a user needs it, and deleted once none does.
 */
export interface InformerHandler {
  onAdd(object: AnyObject, event: AddEvent): void;
  /** Also called for a resync, with the same object as both states. */
  onUpdate(object: AnyObject, old: AnyObject, event: UpdateEvent): void;
  onDelete(object: AnyObject, event: DeleteEvent): void;
}

export interface HandlerOptions {
  /** The handler's name in the log. */
  readonly name: string;
  /** Milliseconds between resyncs. @default never */
  readonly resync?: number | undefined;
  /** Whether the handler receives the existing objects when it is added. @default true */
  readonly replay?: boolean | undefined;
}

/** Removes its handler when disposed; disposing it again has no effect. */
export interface HandlerRegistration extends Disposable {
  /**
   * Whether the handler has received every object of the initial list. If it was added together with needs that the
   * stored objects do not meet, that is the list which brings the rest of them.
   */
  readonly hasSynced: boolean;
}
