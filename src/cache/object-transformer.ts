/**
 * Prepares an object for the store of an informer: transforms it, reduces it to what is needed, measures and freezes
 * it.
 */
import type { Log } from "../observe/log.ts";
import type { AnyObject } from "../resource/handle.ts";
import { deepFreeze } from "./freeze.ts";
import type { KeptPaths } from "./object-set.ts";
import { isStub, type Needs, Projection, toStub } from "./projection.ts";

export interface ObjectTransformerOptions {
  readonly transform: ((object: AnyObject) => AnyObject) | undefined;
  readonly keep: KeptPaths | undefined;
  readonly freeze: boolean;
  readonly log: Pick<Log, "error">;
  /** The informer's name in the log. */
  readonly informer: string;
}

/** Changes an object in place; never throws. */
export type KindTransform = (draft: AnyObject) => void;

const WHOLE: readonly Needs[] = [{ bodies: "all", managers: [] }];
/** The approximate size of a stub. */
const STUB_BYTES = 200;

export class ObjectTransformer {
  readonly #options: ObjectTransformerOptions;
  readonly #size = new SizeEstimate();
  #projection = new Projection(WHOLE);
  /** How many objects were stored unchanged because the transform threw. */
  transformFailures = 0;
  /** Changes what is kept of an object, its annotations among its metadata. @default nothing */
  kindTransform: KindTransform | undefined;

  constructor(options: ObjectTransformerOptions) {
    this.#options = options;
  }

  /** Which objects are needed whole, decided by their metadata; `undefined` when all are, as with a transform. */
  get wants(): ((object: AnyObject) => boolean) | undefined {
    const { keep, transform } = this.#options;
    return keep === undefined && transform === undefined ? this.#projection.wants : undefined;
  }

  /** Whether what is kept of an object is not what the server has, its managed fields aside. */
  get isReduced(): boolean {
    const { keep, transform } = this.#options;
    return keep !== undefined || transform !== undefined || this.kindTransform !== undefined;
  }

  /** @returns whether something is needed now that was dropped before. */
  setNeeds(users: Iterable<Needs>): boolean {
    const earlier = this.#projection;
    this.#projection = new Projection(users);
    return this.#projection.widens(earlier);
  }

  /** @param shared others hold the object too, so it is copied instead of changed. */
  transform(given: AnyObject, shared: boolean): AnyObject {
    const { keep, transform, freeze } = this.#options;
    const object = transform === undefined ? given : this.#transformed(given, transform);
    let taken: AnyObject;
    if (keep !== undefined) taken = keep.take(object);
    else taken = shared ? this.#projection.takeCopy(object) : this.#projection.take(object);
    if (this.kindTransform !== undefined && !isStub(taken)) taken = changed(taken, this.kindTransform, shared);
    this.#size.take(taken);
    return freeze ? deepFreeze(taken) : taken;
  }

  /**
   * Splits a page into stubs of the objects that nobody needs and the other objects, which are still to be transformed.
   */
  split(objects: readonly AnyObject[]): {
    readonly stubs: readonly AnyObject[];
    readonly others: readonly AnyObject[];
  } {
    const { wants } = this;
    if (wants === undefined || this.#options.freeze) return { stubs: [], others: objects };
    return splitBy(objects, wants);
  }

  /** The estimated size of these objects as JSON, in bytes. */
  bytesOf(objects: { readonly size: number; values(): Iterable<AnyObject> }): number {
    let stubs = 0;
    for (const object of objects.values()) if (isStub(object)) stubs++;
    return Math.round((objects.size - stubs) * this.#size.average + stubs * STUB_BYTES);
  }

  #transformed(given: AnyObject, transform: (object: AnyObject) => AnyObject): AnyObject {
    try {
      return transform(given);
    } catch (error) {
      // Leaving the object out would make the store wrong, and another list would not help.
      if (this.transformFailures++ === 0) {
        const { log, informer } = this.#options;
        const { name, namespace } = given.metadata;
        log.error("A transform failed: objects are stored unchanged", { informer, namespace, name, error });
      }
      return given;
    }
  }
}

/** @param shared others hold parts of the object too, so they are copied before they are changed. */
function changed(object: AnyObject, change: KindTransform, shared: boolean): AnyObject {
  const { apiVersion, kind, metadata } = object;
  const base = shared ? structuredClone(object) : object;
  const draft = { ...base, metadata: { ...base.metadata } };
  change(draft);
  const { annotations } = draft.metadata;
  // What tells objects, versions and owners apart stays what the server says.
  return { ...draft, apiVersion, kind, metadata: { ...metadata, annotations } };
}

/**
 * A short function of its own, because at the start it runs for every object of the cluster and must stay cheap to
 * compile.
 */
function splitBy(
  objects: readonly AnyObject[],
  wants: (object: AnyObject) => boolean,
): ReturnType<ObjectTransformer["split"]> {
  const stubs: AnyObject[] = [];
  const others: AnyObject[] = [];
  for (const object of objects) {
    if (wants(object)) others.push(object);
    else stubs.push(toStub(object));
  }
  return { stubs, others };
}

/** One in so many objects is measured at first; later objects are mostly similar. */
const SAMPLE_EVERY = 64;
const LATER_EVERY = 1_024;
const NEW = 4_096;

class SizeEstimate {
  #taken = 0;
  #measured = 0;
  #bytes = 0;

  /** Takes note of an object; stubs do not count. */
  take(object: AnyObject): void {
    const turn = this.#taken++;
    const isTurn = turn % (turn < NEW ? SAMPLE_EVERY : LATER_EVERY) === 0;
    if ((!isTurn && this.#measured > 0) || isStub(object)) return;
    this.#bytes += bytesOf(object);
    this.#measured++;
  }

  /** The average size of an object as JSON, in bytes; 0 before the first. */
  get average(): number {
    return this.#measured === 0 ? 0 : this.#bytes / this.#measured;
  }
}

/** An object that is nested too deeply to be serialized is rare and counts as 0. */
function bytesOf(object: AnyObject): number {
  try {
    return JSON.stringify(object).length;
  } catch {
    return 0;
  }
}
