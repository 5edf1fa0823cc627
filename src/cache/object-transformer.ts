/**
 * Prepares objects for an informer's store: it transforms them, reduces them to the needed fields or to a stub,
 * measures and freezes them. Long texts that many objects share are kept once.
 */
import type { Log } from "../observe/log.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { ManagedFieldsEntry, ObjectMeta } from "../resource/meta.ts";
import { deepFreeze } from "./freeze.ts";
import type { KeptPaths } from "./object-set.ts";

/** The parts of its objects that the users of an informer need. */
export interface Needs {
  /** Which objects are kept whole, decided by their metadata; the rest become stubs. */
  readonly bodies: "all" | ((object: AnyObject) => boolean);
  /** Field managers whose managedFields entries are kept; all others are dropped. */
  readonly managers: readonly string[];
}

/** The remainder of an object that no user needs whole. */
class Stub {
  // Without `declare` each field would be set twice; at the start nearly every object of the cluster becomes a stub.
  declare readonly apiVersion: string;
  declare readonly kind: string;
  declare readonly metadata: StubMetadata;

  constructor(object: AnyObject) {
    this.apiVersion = object.apiVersion;
    this.kind = object.kind;
    this.metadata = stubMetadata(object.metadata);
  }
}

type StubMetadata = Pick<ObjectMeta, "name" | "namespace" | "uid" | "resourceVersion">;

function stubMetadata({ name, namespace, uid, resourceVersion }: ObjectMeta): StubMetadata {
  return { name, namespace, uid, resourceVersion };
}

/** Whether only key, UID and resource version of the object are kept; the rest must be read from the server. */
export function isStub(object: AnyObject): boolean {
  return object instanceof Stub;
}

export function toStub(object: AnyObject): AnyObject {
  return object instanceof Stub ? object : (new Stub(object) as unknown as AnyObject);
}

interface Metadata {
  managedFields?: readonly ManagedFieldsEntry[];
}

/** The union of what the users of one informer need. */
export class Projection {
  /** Whether an object is kept whole, decided by its metadata; `undefined` when all objects are. */
  readonly wants: ((object: AnyObject) => boolean) | undefined;
  readonly #predicates: readonly ((object: AnyObject) => boolean)[];
  readonly #managers: ReadonlySet<string>;

  constructor(users: Iterable<Needs>) {
    const predicates = new Set<(object: AnyObject) => boolean>();
    const managers = new Set<string>();
    let all = false;
    for (const { bodies, managers: own } of users) {
      if (bodies === "all") all = true;
      else predicates.add(bodies);
      for (const manager of own) managers.add(manager);
    }
    this.#predicates = [...predicates];
    this.wants = all ? undefined : anyOf(this.#predicates);
    this.#managers = managers;
  }

  /** Whether objects that were stored under `earlier` may lack what is needed now. */
  widens(earlier: Projection): boolean {
    for (const manager of this.#managers) if (!earlier.#managers.has(manager)) return true;
    if (earlier.wants === undefined) return false;
    return this.wants === undefined || this.#predicates.some((wants) => !earlier.#predicates.includes(wants));
  }

  /** Reduces a freshly parsed object in place, or replaces it by a stub. */
  take(object: AnyObject): AnyObject {
    if (this.wants?.(object) === false) return toStub(object);
    shareStrings(object);
    const metadata = object.metadata as Metadata;
    if (metadata.managedFields === undefined) return object;
    const own = this.#ownEntries(metadata.managedFields);
    if (own === undefined) delete metadata.managedFields;
    else metadata.managedFields = own;
    return object;
  }

  /** Like `take`, for an object that others hold too: it copies instead of changing the object. */
  takeCopy(object: AnyObject): AnyObject {
    if (this.wants?.(object) === false) return toStub(object);
    const { managedFields } = object.metadata;
    if (managedFields === undefined) return object;
    const own = this.#ownEntries(managedFields);
    if (own === managedFields) return object;
    // A plain copy is several times as fast as one that omits a field.
    if (own !== undefined) return { ...object, metadata: { ...object.metadata, managedFields: own } };
    const { managedFields: _dropped, ...metadata } = object.metadata;
    return { ...object, metadata };
  }

  #ownEntries(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] | undefined {
    if (this.#managers.size === 0) return undefined;
    let own: ManagedFieldsEntry[] | undefined;
    for (const entry of entries) {
      if (entry.manager === undefined || !this.#managers.has(entry.manager)) continue;
      if (own === undefined) own = [entry];
      else own.push(entry);
    }
    return own?.length === entries.length ? entries : own;
  }
}

function anyOf(predicates: readonly ((object: AnyObject) => boolean)[]): (object: AnyObject) => boolean {
  const [only] = predicates;
  return only !== undefined && predicates.length === 1 ? only : (object) => predicates.some((wants) => wants(object));
}

/** Texts from this length on are shared. The parser shares short ones, such as kinds and labels, by itself. */
const LONG = 256;
/** The most characters of all remembered texts. */
const MOST_CHARACTERS = 1_000_000;
const texts = new Map<string, string>();
let characters = 0;

/** Shares long texts, such as certificates, scripts and settings that are the same in every namespace. */
function sharedText(text: string): string {
  const earlier = texts.get(text);
  if (earlier !== undefined) return earlier;
  if (characters + text.length > MOST_CHARACTERS) {
    texts.clear();
    characters = 0;
    if (text.length > MOST_CHARACTERS) return text;
  }
  characters += text.length;
  texts.set(text, text);
  return text;
}

interface Draft {
  readonly kind: string;
  readonly data?: Record<string, unknown> | null;
}

/**
 * Replaces long texts of `data` of a freshly parsed object by equal strings of other objects: an object of 3 KB whose
 * text others have too takes half a KB. The content of Secrets is never remembered.
 */
function shareStrings(object: AnyObject): void {
  const { kind, data } = object as unknown as Draft;
  if (typeof data !== "object" || data === null || kind === "Secret") return;
  for (const name in data) {
    const text = data[name];
    if (typeof text === "string" && text.length >= LONG) data[name] = sharedText(text);
  }
}

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

  /** Whether kept objects have fewer fields than the server's, apart from managed fields. */
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
  transform(input: AnyObject, shared: boolean): AnyObject {
    const { keep, transform, freeze } = this.#options;
    const object = transform === undefined ? input : this.#transformed(input, transform);
    let result: AnyObject;
    if (keep !== undefined) result = keep.take(object);
    else result = shared ? this.#projection.takeCopy(object) : this.#projection.take(object);
    if (this.kindTransform !== undefined && !isStub(result)) result = changed(result, this.kindTransform, shared);
    this.#size.take(result);
    return freeze ? deepFreeze(result) : result;
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

  #transformed(input: AnyObject, transform: (object: AnyObject) => AnyObject): AnyObject {
    try {
      return transform(input);
    } catch (error) {
      // Leaving the object out would make the store wrong, and another list would not help.
      if (this.transformFailures++ === 0) {
        const { log, informer } = this.#options;
        const { name, namespace } = input.metadata;
        log.error("A transform failed: objects are stored unchanged", { informer, namespace, name, error });
      }
      return input;
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
  // The fields that identify objects, versions and owners keep the server's values.
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

/** One in this many objects is measured at first; later objects are mostly similar. */
const SAMPLE_EVERY = 64;
const LATER_EVERY = 1_024;
const NEW = 4_096;

class SizeEstimate {
  #count = 0;
  #samples = 0;
  #bytes = 0;

  /** Takes note of an object; stubs do not count. */
  take(object: AnyObject): void {
    const turn = this.#count++;
    const isTurn = turn % (turn < NEW ? SAMPLE_EVERY : LATER_EVERY) === 0;
    if ((!isTurn && this.#samples > 0) || isStub(object)) return;
    this.#bytes += bytesOf(object);
    this.#samples++;
  }

  /** The average size of an object as JSON, in bytes; 0 before the first. */
  get average(): number {
    return this.#samples === 0 ? 0 : this.#bytes / this.#samples;
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
