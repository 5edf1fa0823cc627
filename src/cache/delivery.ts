/** Puts changes into the store and tells the handlers, for whom an object of which only a stub is kept does not exist. */
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

/** What a change of an object that is in the store means. */
export interface Replacement {
  /** What the store holds. */
  readonly stored: AnyObject;
  /**
   * What handlers have last been told of from outside; `undefined` when they have only been told of what this process
   * wrote.
   */
  readonly old: AnyObject | undefined;
  /** Who in this process wrote it; `undefined` for a change from outside. */
  readonly origin?: string | undefined;
  /** It comes with a list that was asked for because more is needed than before. */
  readonly isRefresh?: boolean | undefined;
}

/**
 * **Guarantees.** The store changes first. Each handler has been told of exactly the whole objects of the store: one that
 * becomes whole is new to the handlers, and one that becomes a stub is gone for them.
 */
export class Delivery {
  readonly #store: Indexer;
  readonly #handlers: Handlers;

  constructor(store: Indexer, handlers: Handlers) {
    this.#store = store;
    this.#handlers = handlers;
  }

  /** An object whose key is not in the store. */
  add(
    key: string,
    object: AnyObject,
    about: { readonly isInitial: boolean; readonly origin?: string | undefined },
  ): void {
    this.#store.set(key, object);
    if (!isStub(object)) this.#handlers.added(object, addEvent(about.isInitial, about.origin));
  }

  /** Another state of an object that is in the store, from outside, after the state that handlers were told of last. */
  update(key: string, object: AnyObject, stored: AnyObject): void {
    if (isStub(object) || isStub(stored)) return this.replace(key, object, { stored, old: stored });
    this.#store.set(key, object);
    this.#handlers.updated(object, stored, UPDATED);
  }

  /** Another state of an object that is in the store. */
  replace(key: string, object: AnyObject, about: Replacement): void {
    const { stored, old, origin, isRefresh = false } = about;
    this.#store.set(key, object);
    if (isStub(object)) {
      if (!isStub(stored)) this.#handlers.deleted(stored, deleteEvent(false, origin));
    } else if (isStub(stored)) this.#handlers.added(object, addEvent(isRefresh, origin));
    else this.#tell(object, old, { stored, origin });
  }

  /** The state that is in the store, of which more is known now. */
  refresh(key: string, object: AnyObject, stored: AnyObject): void {
    this.#store.set(key, object);
    if (isStub(stored) && !isStub(object)) this.#handlers.added(object, INITIAL);
  }

  /** The state that is in the store, as a change from outside that nobody has been told of; `old` as in a replacement. */
  tell(stored: AnyObject, old: AnyObject | undefined): void {
    if (!isStub(stored)) this.#tell(stored, old, { stored, origin: undefined });
  }

  /** @param last the state in which the object went, or the last that is known. */
  remove(key: string, stored: AnyObject, about: { readonly last: AnyObject; readonly event: DeleteEvent }): void {
    this.#store.delete(key);
    if (isStub(stored)) return;
    this.#handlers.deleted(isStub(about.last) ? stored : about.last, about.event);
  }

  /** An object that has not changed, to those whose resync is due. */
  resync(stored: AnyObject): void {
    if (!isStub(stored)) this.#handlers.resynced(stored);
  }

  /** A state that was a stub has been shown to nobody. */
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

/** The deletion itself was seen, unless its state is unknown. */
export function deleteEvent(stateUnknown: boolean, origin?: string): DeleteEvent {
  if (origin === undefined) return stateUnknown ? VANISHED : DELETED;
  return { stateUnknown, origin };
}
