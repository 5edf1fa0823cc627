/**
 * Changes the store of an informer, then calls its event handlers. To the handlers, an object that is kept as a stub
 * does not exist.
 */
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { AddEvent, DeleteEvent, HandlerOptions, InformerHandler, UpdateEvent } from "./informer-handler.ts";
import { isStub } from "./object-transformer.ts";
import type { Indexer } from "./store.ts";

const ADDED: AddEvent = Object.freeze({ isInInitialList: false });
const INITIAL: AddEvent = Object.freeze({ isInInitialList: true });
const UPDATED: UpdateEvent = Object.freeze({});
const FIRST_FROM_OUTSIDE: UpdateEvent = Object.freeze({ isFirstFromOutside: true });
const DELETED: DeleteEvent = Object.freeze({ stateUnknown: false });
const VANISHED: DeleteEvent = Object.freeze({ stateUnknown: true });

/** A registered handler. */
interface Listener {
  readonly handler: InformerHandler;
  readonly options: HandlerOptions;
  active: boolean;
  /** Whether the handler's resync is under way. */
  resyncing: boolean;
  timer: Disposable | undefined;
}

export interface DeliveryOptions {
  readonly log: Pick<Log, "error">;
  readonly clock: Clock;
  /** The informer's name in the log. */
  readonly informer: string;
  /** Calls `Delivery.resync` for every object. */
  readonly onResync: () => void;
}

/** How the state of a stored object is replaced. */
export interface Replacement {
  /** The state that the store holds. */
  readonly stored: AnyObject;
  /** The last state from outside that handlers received; `undefined` when they know only writes of this process. */
  readonly old: AnyObject | undefined;
  /** The writer in this process; `undefined` for a change from outside. */
  readonly origin?: string | undefined;
  /** Whether the state comes with a list that was requested because more of each object is needed than before. */
  readonly isRefresh?: boolean | undefined;
}

/**
 * The one place that changes an informer's store.
 *
 * **Guarantees.** The store changes before handlers are called. Handlers know exactly the whole objects of the store:
 * an object that becomes whole is reported as added, one that becomes a stub as deleted. A handler that throws affects
 * neither the others nor the informer.
 */
export class Delivery {
  readonly #store: Indexer;
  readonly #options: DeliveryOptions;
  /** Replaced, never mutated, because a handler may add or remove handlers while it is called. */
  #listeners: readonly Listener[] = [];
  /** How many handler calls have thrown. */
  failures = 0;

  constructor(store: Indexer, options: DeliveryOptions) {
    this.#store = store;
    this.#options = options;
  }

  /**
   * Registers a handler after calling its `onAdd` for every stored object, unless it wants no replay.
   *
   * @returns a handle that removes the handler when it is disposed.
   */
  addHandler(handler: InformerHandler, options: HandlerOptions): Disposable {
    const listener: Listener = { handler, options, active: true, resyncing: false, timer: undefined };
    for (const object of options.replay === false ? [] : this.#store.values()) {
      if (isStub(object)) continue;
      try {
        handler.onAdd(object, INITIAL);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
    this.#listeners = [...this.#listeners, listener];
    this.#resyncLater(listener);
    return { [Symbol.dispose]: () => this.#remove(listener) };
  }

  /** Ends all resyncs. */
  stop(): void {
    for (const { timer } of this.#listeners) timer?.[Symbol.dispose]();
  }

  /** Adds an object whose key is not in the store. */
  add(
    key: string,
    object: AnyObject,
    about: { readonly isInitial: boolean; readonly origin?: string | undefined },
  ): void {
    this.#store.set(key, object);
    if (!isStub(object)) this.#added(object, addEvent(about.isInitial, about.origin));
  }

  /** Adds stubs whose keys are not in the store yet. */
  addStubs(stubs: readonly AnyObject[]): void {
    this.#store.addNew(stubs);
  }

  /** Updates a stored object to a state from outside; handlers know the stored state. */
  update(key: string, object: AnyObject, stored: AnyObject): void {
    if (isStub(object) || isStub(stored)) return this.replace(key, object, { stored, old: stored });
    this.#store.set(key, object);
    this.#updated(object, stored, UPDATED);
  }

  /** Replaces the state of a stored object. */
  replace(key: string, object: AnyObject, about: Replacement): void {
    const { stored, old, origin, isRefresh = false } = about;
    this.#store.set(key, object);
    if (isStub(object)) {
      if (!isStub(stored)) this.#deleted(stored, deleteEvent(false, origin));
    } else if (isStub(stored)) this.#added(object, addEvent(isRefresh, origin));
    else this.#tell(object, old, { stored, origin });
  }

  /** Stores more of the same state of an object. */
  refresh(key: string, object: AnyObject, stored: AnyObject): void {
    this.#store.set(key, object);
    if (isStub(stored) && !isStub(object)) this.#added(object, INITIAL);
  }

  /**
   * Reports the stored state as a change from outside that handlers have not received; `old` as in {@link Replacement}.
   */
  tell(stored: AnyObject, old: AnyObject | undefined): void {
    if (!isStub(stored)) this.#tell(stored, old, { stored, origin: undefined });
  }

  /** Removes an object. @param about `last` is the state in which it was deleted, or the last known one. */
  remove(key: string, stored: AnyObject, about: { readonly last: AnyObject; readonly event: DeleteEvent }): void {
    this.#store.delete(key);
    if (isStub(stored)) return;
    this.#deleted(isStub(about.last) ? stored : about.last, about.event);
  }

  /** Calls the handlers whose resync is under way for an object that has not changed. */
  resync(stored: AnyObject): void {
    if (isStub(stored)) return;
    for (const listener of this.#listeners) {
      if (!listener.active || !listener.resyncing) continue;
      try {
        listener.handler.onUpdate(stored, stored, UPDATED);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  /** Handlers have never received a state that was kept as a stub. */
  #tell(object: AnyObject, old: AnyObject | undefined, about: { stored: AnyObject; origin: string | undefined }): void {
    const { stored, origin } = about;
    if (old === undefined || isStub(old)) this.#updated(object, stored, FIRST_FROM_OUTSIDE);
    else this.#updated(object, old, origin === undefined ? UPDATED : { origin });
  }

  #added(object: AnyObject, event: AddEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.active) continue;
      try {
        listener.handler.onAdd(object, event);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  #updated(object: AnyObject, old: AnyObject, event: UpdateEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.active) continue;
      try {
        listener.handler.onUpdate(object, old, event);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  #deleted(object: AnyObject, event: DeleteEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.active) continue;
      try {
        listener.handler.onDelete(object, event);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  #remove(listener: Listener): void {
    listener.active = false;
    listener.timer?.[Symbol.dispose]();
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  #resyncLater(listener: Listener): void {
    const { resync } = listener.options;
    if (resync === undefined || resync <= 0) return;
    listener.timer = this.#options.clock.setTimeout(() => {
      this.#resyncLater(listener);
      listener.resyncing = true;
      this.#options.onResync();
      listener.resyncing = false;
    }, resync);
  }

  #failed({ options }: Listener, error: unknown): void {
    this.failures++;
    const { log, informer } = this.#options;
    log.error("An event handler failed", { handler: options.name, informer, error });
  }
}

function addEvent(isInInitialList: boolean, origin: string | undefined): AddEvent {
  if (origin === undefined) return isInInitialList ? INITIAL : ADDED;
  return { isInInitialList, origin };
}

/** @param stateUnknown the deletion itself was not seen, so the object is the last known state. */
export function deleteEvent(stateUnknown: boolean, origin?: string): DeleteEvent {
  if (origin === undefined) return stateUnknown ? VANISHED : DELETED;
  return { stateUnknown, origin };
}

/** The server has answered a write of this process: the object is gone. */
export function goneEvent(origin: string): DeleteEvent {
  return { stateUnknown: false, origin, isGone: true };
}

/** The object still exists, but another replica works on it. */
export const ELSEWHERE: DeleteEvent = Object.freeze({ stateUnknown: false, isElsewhere: true });
