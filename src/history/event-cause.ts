/** The cause of a run when an event of an object queued its key. It knows which fields the event changed. */
import { LOGGED_AS } from "../observe/loggable.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";
import { schemaWithMarks } from "../resource/sensitive.ts";
import type { Clean } from "./bounded.ts";
import { compare, type Difference } from "./changes.ts";
import type { EventOrigin } from "./event-origins.ts";

/** The event that a cause is made of. */
export interface ObjectEvent {
  readonly source: string;
  readonly type: string;
  readonly resource: Resource;
  readonly object: AnyObject;
  readonly old?: AnyObject | undefined;
  /** Where the change comes from, while runs are recorded. */
  readonly origin?: EventOrigin | undefined;
}

/**
 * **Guarantees.** Nothing is compared before somebody reads `paths`. The old states that all waiting causes keep alive
 * are at most {@link MOST_STATES}; a cause that has lost its own has no `paths`, and takes no more memory than one
 * without.
 */
export class EventCause implements Cause {
  readonly source: string;
  readonly type: string;
  readonly kind: string;
  readonly key: Key;
  readonly resourceVersion: string;
  #states: States | undefined;

  constructor({ source, type, resource, object, old, origin }: ObjectEvent) {
    const { name, namespace, resourceVersion } = object.metadata;
    this.source = source;
    this.type = type;
    this.kind = object.kind;
    this.key = { name, namespace };
    this.resourceVersion = resourceVersion;
    if (old === undefined && origin === undefined) return;
    this.#states = new States(resource, { object, old, origin });
    if (old === undefined) return;
    latest[next]?.forget();
    latest[next] = this;
    next = (next + 1) % MOST_STATES;
  }

  /** Not enumerable: a copy has none, and whatever walks over a cause compares nothing. */
  get paths(): readonly string[] | undefined {
    return this.#states?.paths;
  }

  get resource(): Resource | undefined {
    return this.#states?.resource;
  }

  get origin(): EventOrigin | undefined {
    return this.#states?.origin;
  }

  get uid(): string | undefined {
    return this.#states?.object?.metadata.uid;
  }

  /** The states before and after; `undefined` when they are not known any more, or there is only one. */
  get states(): readonly [old: AnyObject, object: AnyObject] | undefined {
    const { old, object } = this.#states ?? {};
    return old === undefined || object === undefined ? undefined : [old, object];
  }

  /** Compares the states; `undefined` as for `states`. */
  difference(clean: Clean): Difference | undefined {
    return this.#states?.compare(clean);
  }

  /** Lets this cause stand for an earlier event of the same object, too. */
  follow(earlier: Cause): void {
    if (!(earlier instanceof EventCause) || earlier.#states === undefined || this.#states?.old === undefined) return;
    if (earlier.#states.old === undefined) this.forget();
    else this.#states.old = earlier.#states.old;
    earlier.forget();
  }

  /** Forgets the states; `paths` that were read stay. */
  forget(): void {
    const states = this.#states;
    if (states?.old === undefined) return;
    states.old = states.object = undefined;
    if (states.origin === undefined && !states.isCompared) this.#states = LOST;
  }

  toJSON(): Cause {
    const { source, type, kind, key, resourceVersion, paths } = this;
    return { source, type, kind, key, resourceVersion, paths };
  }
}

Object.defineProperty(EventCause.prototype, LOGGED_AS, {
  get(this: EventCause) {
    return this.toJSON();
  },
});

/** Forgets the states of causes whose run is over, because the next run of the key has causes of its own. */
export function forgetStates(causes: readonly Cause[]): void {
  for (const cause of causes) if (cause instanceof EventCause) cause.forget();
}

/** The most old states that waiting causes keep alive; with more keys waiting, the causes of some have no paths. */
const MOST_STATES = 128;
const latest: (EventCause | undefined)[] = [];
let next = 0;

/** The states of an object before and after an event. */
class States {
  readonly resource: Resource | undefined;
  readonly origin: EventOrigin | undefined;
  object: AnyObject | undefined;
  old: AnyObject | undefined;
  #paths: readonly string[] | undefined;

  constructor(
    resource: Resource | undefined,
    { object, old, origin }: Partial<Pick<ObjectEvent, "object" | "old" | "origin">>,
  ) {
    this.resource = resource;
    this.object = object;
    this.old = old;
    this.origin = origin;
  }

  get isCompared(): boolean {
    return this.#paths !== undefined;
  }

  get paths(): readonly string[] | undefined {
    if (this.#paths === undefined) this.compare();
    return this.#paths;
  }

  /** @param clean as in `CompareOptions`. */
  compare(clean?: Clean): Difference | undefined {
    const { resource, old, object } = this;
    if (resource === undefined || old === undefined || object === undefined) return undefined;
    const difference = compare(old, object, { schema: schemaWithMarks(resource), clean });
    this.#paths = difference.changes.map(({ path }) => path);
    return difference;
  }
}

/** Stands for the states of all causes that have lost theirs. */
const LOST = new States(undefined, {});
