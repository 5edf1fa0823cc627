/** Changes the store, then calls the event handlers. For handlers, an object that is kept as a stub does not exist. */
import type { AnyObject } from "../resource/handle.ts";
import type { Handlers } from "./handlers.ts";
import type { Indexer } from "./indexer.ts";
import type { AddEvent, DeleteEvent, UpdateEvent } from "./informer-handler.ts";
import { isStub } from "./projection.ts";

const ADDED: AddEvent = Object.freeze({ isInInitialList: false });
const INITIAL: AddEvent = Object.freeze({ isInInitialList: true });
const UPDATED: UpdateEvent = Object.freeze({});
const FIRST_FROM_OUTSIDE: UpdateEvent = Object.freeze({ isFirstFromOutside: true });
const DELETED: DeleteEvent = Object.freeze({ stateUnknown: false });
const VANISHED: DeleteEvent = Object.freeze({ stateUnknown: true });

/** How the state of a stored object is replaced. */
export interface Replacement {
  /** The state that the store holds. */
  readonly stored: AnyObject;
  /**
   * The last state from outside that handlers have been told of; `undefined` when they know only what this process
   * wrote.
   */
  readonly old: AnyObject | undefined;
  /** Who in this process wrote it; `undefined` for a change from outside. */
  readonly origin?: string | undefined;
  /** The state comes with a list that was requested because more of each object is needed than before. */
  readonly isRefresh?: boolean | undefined;
}

/**
 * **Guarantees.** The store changes before handlers are called. Handlers know exactly the whole objects of the store: an
 * object that becomes whole is reported as added, one that becomes a stub as deleted.
 */
export class Delivery {
  readonly #store: Indexer;
  readonly #handlers: Handlers;

  constructor(store: Indexer, handlers: Handlers) {
    this.#store = store;
    this.#handlers = handlers;
  }

  /** Adds an object whose key is not in the store. */
  add(
    key: string,
    object: AnyObject,
    about: { readonly isInitial: boolean; readonly origin?: string | undefined },
  ): void {
    this.#store.set(key, object);
    if (!isStub(object)) this.#handlers.added(object, addEvent(about.isInitial, about.origin));
  }

  /** Updates a stored object to a state from outside; handlers know the stored state. */
  update(key: string, object: AnyObject, stored: AnyObject): void {
    if (isStub(object) || isStub(stored)) return this.replace(key, object, { stored, old: stored });
    this.#store.set(key, object);
    this.#handlers.updated(object, stored, UPDATED);
  }

  /** Replaces the state of a stored object. */
  replace(key: string, object: AnyObject, about: Replacement): void {
    const { stored, old, origin, isRefresh = false } = about;
    this.#store.set(key, object);
    if (isStub(object)) {
      if (!isStub(stored)) this.#handlers.deleted(stored, deleteEvent(false, origin));
    } else if (isStub(stored)) this.#handlers.added(object, addEvent(isRefresh, origin));
    else this.#tell(object, old, { stored, origin });
  }

  /** Stores more of the same state of an object. */
  refresh(key: string, object: AnyObject, stored: AnyObject): void {
    this.#store.set(key, object);
    if (isStub(stored) && !isStub(object)) this.#handlers.added(object, INITIAL);
  }

  /** Reports the stored state as a change from outside that handlers have not been told of; `old` as in {@link Replacement}. */
  tell(stored: AnyObject, old: AnyObject | undefined): void {
    if (!isStub(stored)) this.#tell(stored, old, { stored, origin: undefined });
  }

  /** Removes an object. @param about `last` is the state in which it was deleted, or the last known one. */
  remove(key: string, stored: AnyObject, about: { readonly last: AnyObject; readonly event: DeleteEvent }): void {
    this.#store.delete(key);
    if (isStub(stored)) return;
    this.#handlers.deleted(isStub(about.last) ? stored : about.last, about.event);
  }

  /** Calls the handlers whose resync is due for an object that has not changed. */
  resync(stored: AnyObject): void {
    if (!isStub(stored)) this.#handlers.resynced(stored);
  }

  /** Handlers have never seen a state that was kept as a stub. */
  #tell(object: AnyObject, old: AnyObject | undefined, about: { stored: AnyObject; origin: string | undefined }): void {
    const { stored, origin } = about;
    if (old === undefined || isStub(old)) this.#handlers.updated(object, stored, FIRST_FROM_OUTSIDE);
    else this.#handlers.updated(object, old, origin === undefined ? UPDATED : { origin });
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

/** The server has answered a write of this process by saying that the object is gone. */
export function goneEvent(origin: string): DeleteEvent {
  return { stateUnknown: false, origin, isGone: true };
}

/** The object is still there, and the business of another replica. */
export const ELSEWHERE: DeleteEvent = Object.freeze({ stateUnknown: false, isElsewhere: true });
