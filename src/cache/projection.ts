/**
 * What is kept of an object in memory: whether it is whole or a stub, and whose managed fields; long texts are shared
 * with other objects.
 */
import type { AnyObject } from "../resource/handle.ts";
import type { ManagedFieldsEntry, ObjectMeta } from "../resource/meta.ts";

/** What the users of an informer need of its objects. */
export interface Needs {
  /** Which objects are kept whole, decided by their metadata; the rest become stubs. */
  readonly bodies: "all" | ((object: AnyObject) => boolean);
  /** Field managers whose managedFields entries are kept; all others are dropped. */
  readonly managers: readonly string[];
}

/** What remains of an object that no user needs whole. */
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
  readonly #wanted: readonly ((object: AnyObject) => boolean)[];
  readonly #managers: ReadonlySet<string>;

  constructor(users: Iterable<Needs>) {
    const wanted = new Set<(object: AnyObject) => boolean>();
    const managers = new Set<string>();
    let all = false;
    for (const { bodies, managers: own } of users) {
      if (bodies === "all") all = true;
      else wanted.add(bodies);
      for (const manager of own) managers.add(manager);
    }
    this.#wanted = [...wanted];
    this.wants = all ? undefined : anyOf(this.#wanted);
    this.#managers = managers;
  }

  /** Whether objects that were stored under `earlier` may lack what is needed now. */
  widens(earlier: Projection): boolean {
    for (const manager of this.#managers) if (!earlier.#managers.has(manager)) return true;
    if (earlier.wants === undefined) return false;
    return this.wants === undefined || this.#wanted.some((wants) => !earlier.#wanted.includes(wants));
  }

  /** Reduces a freshly parsed object in place, or replaces it by a stub. */
  take(object: AnyObject): AnyObject {
    if (this.wants?.(object) === false) return toStub(object);
    shareStrings(object);
    const metadata = object.metadata as Metadata;
    if (metadata.managedFields === undefined) return object;
    const kept = this.#kept(metadata.managedFields);
    if (kept === undefined) delete metadata.managedFields;
    else metadata.managedFields = kept;
    return object;
  }

  /** Like `take`, for an object that others hold too: it copies instead of changing the object. */
  takeCopy(object: AnyObject): AnyObject {
    if (this.wants?.(object) === false) return toStub(object);
    const { managedFields } = object.metadata;
    if (managedFields === undefined) return object;
    const kept = this.#kept(managedFields);
    if (kept === managedFields) return object;
    // A plain copy is several times as fast as one that omits a field.
    if (kept !== undefined) return { ...object, metadata: { ...object.metadata, managedFields: kept } };
    const { managedFields: _dropped, ...metadata } = object.metadata;
    return { ...object, metadata };
  }

  #kept(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] | undefined {
    if (this.#managers.size === 0) return undefined;
    let kept: ManagedFieldsEntry[] | undefined;
    for (const entry of entries) {
      if (entry.manager === undefined || !this.#managers.has(entry.manager)) continue;
      if (kept === undefined) kept = [entry];
      else kept.push(entry);
    }
    return kept?.length === entries.length ? entries : kept;
  }
}

function anyOf(wanted: readonly ((object: AnyObject) => boolean)[]): (object: AnyObject) => boolean {
  const [only] = wanted;
  return only !== undefined && wanted.length === 1 ? only : (object) => wanted.some((wants) => wants(object));
}

/** Texts from this length on are shared. The parser shares short ones, such as kinds and labels, by itself. */
const LONG = 256;
/** The most characters of all remembered texts. */
const MOST_CHARACTERS = 1_000_000;
const texts = new Map<string, string>();
let characters = 0;

/** Shares long texts, such as certificates, scripts and settings that are the same in every namespace. */
function sharedText(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
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
