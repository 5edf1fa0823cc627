/** Calls the event handlers of an informer. A handler that throws affects neither the others nor the informer. */
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { isStub } from "./projection.ts";
import type { AddEvent, DeleteEvent, HandlerOptions, InformerHandler, UpdateEvent } from "./informer-handler.ts";

/** A registered handler. */
export interface Listener {
  readonly handler: InformerHandler;
  readonly options: HandlerOptions;
  active: boolean;
  /** Its resync is under way. */
  resyncing: boolean;
  timer: Disposable | undefined;
}

export interface HandlersOptions {
  readonly log: Pick<Log, "error">;
  readonly clock: Clock;
  /** The informer's name in the log. */
  readonly informer: string;
  /** Calls `resynced` for every object. */
  readonly resync: () => void;
}

const INITIAL: AddEvent = Object.freeze({ isInInitialList: true });
const RESYNC: UpdateEvent = Object.freeze({});

export class Handlers {
  readonly #options: HandlersOptions;
  /** Replaced, never mutated, because a handler may add or remove handlers while it is called. */
  #listeners: readonly Listener[] = [];
  /** How many handler calls have thrown. */
  failures = 0;

  constructor(options: HandlersOptions) {
    this.#options = options;
  }

  /** Registers a handler after calling its `onAdd` for every object that is there, unless it wants no replay. */
  add(handler: InformerHandler, at: { options: HandlerOptions; objects: Iterable<AnyObject> }): Listener {
    const listener: Listener = { handler, options: at.options, active: true, resyncing: false, timer: undefined };
    for (const object of at.options.replay === false ? [] : at.objects) {
      if (isStub(object)) continue;
      try {
        handler.onAdd(object, INITIAL);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
    this.#listeners = [...this.#listeners, listener];
    this.#resyncLater(listener);
    return listener;
  }

  /** Removes a handler; removing it again has no effect. */
  remove(listener: Listener): void {
    listener.active = false;
    listener.timer?.[Symbol.dispose]();
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  added(object: AnyObject, event: AddEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.active) continue;
      try {
        listener.handler.onAdd(object, event);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  updated(object: AnyObject, old: AnyObject, event: UpdateEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.active) continue;
      try {
        listener.handler.onUpdate(object, old, event);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  deleted(object: AnyObject, event: DeleteEvent): void {
    for (const listener of this.#listeners) {
      if (!listener.active) continue;
      try {
        listener.handler.onDelete(object, event);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  /** Calls the handlers whose resync is under way. */
  resynced(object: AnyObject): void {
    for (const listener of this.#listeners) {
      if (!listener.active || !listener.resyncing) continue;
      try {
        listener.handler.onUpdate(object, object, RESYNC);
      } catch (error) {
        this.#failed(listener, error);
      }
    }
  }

  /** Ends all resyncs. */
  stop(): void {
    for (const { timer } of this.#listeners) timer?.[Symbol.dispose]();
  }

  #resyncLater(listener: Listener): void {
    const { resync } = listener.options;
    if (resync === undefined || resync <= 0) return;
    listener.timer = this.#options.clock.setTimeout(() => {
      this.#resyncLater(listener);
      listener.resyncing = true;
      this.#options.resync();
      listener.resyncing = false;
    }, resync);
  }

  #failed({ options }: Listener, error: unknown): void {
    this.failures++;
    const { log, informer } = this.#options;
    log.error("An event handler failed", { handler: options.name, informer, error });
  }
}
