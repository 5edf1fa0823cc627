/** The timers of a controller's objects. Each queues its object's key repeatedly. */
import type { Clock } from "../platform/clock.ts";
import { type DelayedItem, DelayedItems } from "../queue/delayed-items.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { EventMappingHost } from "./event-mapping.ts";
import type { ObjectSource } from "./object-source.ts";

/** The interval: the same for all objects, or a function of the object. */
export type Every = Duration | ((object: AnyObject) => Duration | undefined);

export interface ObjectTimersOptions {
  readonly clock: Clock;
  /** Whether the object is a member on which this replica works. */
  readonly isOurs: (object: AnyObject) => boolean;
  readonly enqueue: (key: string) => void;
  readonly call: EventMappingHost["call"];
}

interface ObjectTimer extends DelayedItem {
  readonly key: string;
  /** The last known state of the object. */
  object: AnyObject;
  readonly interval: number;
}

/** When the timers of objects are due, by key. */
export type TimerTimes = ReadonlyMap<string, Pick<ObjectTimer, "object" | "interval" | "at">>;

export class ObjectTimers implements ObjectSource {
  readonly #options: ObjectTimersOptions;
  readonly #intervalOf: (object: AnyObject) => number | undefined;
  readonly #timers = new Map<string, ObjectTimer>();
  readonly #due: DelayedItems<ObjectTimer>;
  #open = false;
  #order = 0;
  #before: TimerTimes | undefined;
  /**
   * The due times of the timers when the controller was asked to stop. The next version continues with them, so that a
   * reload shifts none.
   */
  times: TimerTimes = new Map();

  /** @param before the timers of the previous version. @default none */
  constructor(every: Every, options: ObjectTimersOptions, before?: TimerTimes) {
    this.#options = options;
    this.#before = before;
    this.#due = new DelayedItems(options.clock, () => this.#onDue());
    if (typeof every === "function") {
      this.#intervalOf = (object) => options.call("every", () => intervalOf(every(object)));
    } else {
      const interval = intervalOf(every);
      this.#intervalOf = () => interval;
    }
  }

  open(): void {
    this.#open = true;
  }

  look(object: AnyObject): void {
    if (!this.#open) return;
    const key = keyString(object.metadata);
    const timer = this.#timers.get(key);
    const isThere = object.metadata.deletionTimestamp === undefined && this.#options.isOurs(object);
    const interval = isThere ? this.#intervalOf(object) : undefined;
    if (timer !== undefined && timer.interval === interval && timer.object.metadata.uid === object.metadata.uid) {
      timer.object = object;
      return;
    }
    this.gone(key);
    if (interval === undefined) return;
    const then = this.#before?.get(key);
    const isSame = then?.interval === interval && then.object.metadata.uid === object.metadata.uid;
    this.#set({ key, object, interval, at: isSame ? then.at : this.#options.clock.now() + interval });
  }

  /** Called when all existing objects have been examined. */
  settled(): void {
    this.#before = undefined;
  }

  gone(key: string): void {
    const timer = this.#timers.get(key);
    if (timer === undefined) return;
    this.#timers.delete(key);
    this.#due.remove(timer);
  }

  leave(_reason: string, isMeant?: (object: AnyObject) => boolean): void {
    if (isMeant === undefined) {
      // A version that was replaced before it examined the objects passes on the times that it received.
      if (this.#before !== undefined) this.times = this.#before;
      else if (this.#timers.size > 0) this.times = new Map(this.#timers);
      this[Symbol.dispose]();
    } else for (const { key, object } of this.#timers.values()) if (isMeant(object)) this.gone(key);
  }

  cancel(): void {
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#open = false;
    this.#timers.clear();
    this.#due.clear();
  }

  #set(timer: Omit<ObjectTimer, "order" | "place">): void {
    const set: ObjectTimer = { ...timer, order: this.#order++, place: -1 };
    this.#timers.set(timer.key, set);
    this.#due.add(set);
  }

  #onDue(): void {
    const now = this.#options.clock.now();
    for (let timer = this.#due.due(now); timer !== undefined; timer = this.#due.due(now)) {
      this.#due.remove(timer);
      const next = timer.at + timer.interval;
      // After a pause of the whole process, the missed times count as one.
      this.#set({ ...timer, at: next > now ? next : now + timer.interval });
      this.#options.enqueue(timer.key);
    }
  }
}

/** @throws RangeError, or an error of `parseDuration`. */
function intervalOf(duration: Duration | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = parseDuration(duration, "every");
  if (!(ms > 0)) throw new RangeError(`Cannot use ${duration} as 'every': the interval must be more than 0`);
  return ms;
}
