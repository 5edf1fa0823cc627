/** The writes of this process that an informer's watch has not shown yet. */
import type { AnyObject } from "../resource/handle.ts";
import { compareVersions } from "../resource/meta.ts";
import type { Delta } from "./delta-fifo.ts";

interface Deletion {
  readonly uid: string;
  /** The last known version of the deleted object; empty when it was never seen. */
  readonly version: string;
  /** The sequence number of the last list that began before the deletion. */
  readonly list: number;
}

interface RememberedDeletion extends Deletion {
  /**
   * The version of our first write after the deletion: a watch that has reached it has passed the deletion too. Empty
   * until then.
   */
  before: string;
}

interface PendingWrite {
  /** The origin of the last write. */
  origin: string;
  /** The versions of responses that the watch has not shown, in order. */
  versions: string[];
  /** The last state that the watch has shown; `undefined` while it has shown none. */
  base: AnyObject | undefined;
  /** The last write moved the object out of the informer's set. */
  outside: boolean;
  deletions: readonly RememberedDeletion[];
}

/** The treatment of a delta whose key this process has written. */
export type Verdict =
  /** Apply it; `old` is the last state from outside that handlers know, where that is not the stored state. */
  | { readonly kind: "apply"; readonly old?: AnyObject | undefined }
  | { readonly kind: "drop" }
  /** Remove the stored object: the delta is about a deleted object that replaced it. */
  | { readonly kind: "evictStale" }
  /** Apply it as an addition: handlers have never been told of the object from outside. */
  | { readonly kind: "applyAsNew" }
  /** Only tell handlers: the stored state is newer, but they do not know this change from outside. `old` as above. */
  | { readonly kind: "notifyOnly"; readonly old: AnyObject | undefined };

const APPLY: Verdict = { kind: "apply" };
const DROP: Verdict = { kind: "drop" };
const APPLY_AS_NEW: Verdict = { kind: "applyAsNew" };
const EVICT_STALE: Verdict = { kind: "evictStale" };

/** How many deletions of objects that were never seen are remembered; the watch may never confirm them. */
const MAX_UNSEEN = 1_000;
/**
 * The number of writes from which on they are swept, because the watch never shows writes outside the informer's set.
 */
const SWEEP_AT = 1_000;

/**
 * Own writes by key, from their response until the watch has passed them. No clock is involved: resource versions, UIDs
 * and the order of lists decide.
 */
export class PendingWrites {
  readonly #writes = new Map<string, PendingWrite>();
  readonly #unseen = new Set<string>();
  #sweepAt = SWEEP_AT;

  get size(): number {
    return this.#writes.size;
  }

  /** Adds a write that was answered; `before` is the state that the store held. */
  add(
    key: string,
    object: AnyObject,
    about: { readonly before: AnyObject | undefined; readonly outside: boolean; readonly origin: string },
  ): void {
    const write = this.#of(key, about.before);
    write.origin = about.origin;
    const { resourceVersion } = object.metadata;
    const { versions } = write;
    if (versions.includes(resourceVersion)) return;
    for (const deletion of write.deletions) deletion.before ||= resourceVersion;
    versions.push(resourceVersion);
    if (versions.length > 1) versions.sort(compareVersions);
    if (versions.at(-1) === resourceVersion) write.outside = about.outside;
  }

  /** The writes of these origins count as observed from outside, in the stored state. */
  markObserved(origins: readonly string[], stored: (key: string) => AnyObject | undefined): void {
    for (const [key, write] of this.#writes) {
      if (write.versions.length > 0 && !write.outside && origins.includes(write.origin)) {
        write.base = stored(key);
      }
    }
  }

  /** Adds a write that was answered after a later write of the same object. */
  addLate(key: string, version: string): void {
    const write = this.#writes.get(key);
    if (write === undefined || write.versions.length === 0 || write.versions.includes(version)) return;
    write.versions.push(version);
    write.versions.sort(compareVersions);
  }

  /** Whether a deletion of the object, or a later write of its key, was answered before this write. */
  isSuperseded(key: string, { metadata }: AnyObject): boolean {
    const write = this.#writes.get(key);
    if (write === undefined) return false;
    if (write.deletions.some(({ uid }) => uid === metadata.uid)) return true;
    const last = write.versions.at(-1);
    return last !== undefined && compareVersions(metadata.resourceVersion, last) < 0;
  }

  /** Adds a deletion that was answered. */
  addDeletion(key: string, deletion: Deletion): void {
    const write = this.#of(key, undefined);
    write.deletions = [...write.deletions, { ...deletion, before: "" }];
    if (deletion.version !== "") {
      write.versions = [];
      write.base = undefined;
      write.outside = false;
      return;
    }
    this.#unseen.add(key);
    if (this.#unseen.size <= MAX_UNSEEN) return;
    const [oldest] = this.#unseen;
    this.#forget(oldest!);
  }

  /** Decides what to do with a delta; `stored` is the state that the store holds. */
  judge(key: string, delta: Delta, stored: AnyObject | undefined): Verdict {
    const write = this.#writes.get(key);
    if (write === undefined) return APPLY;
    if (delta.type === "Deleted" && delta.list !== undefined) {
      if (stored !== undefined && compareVersions(stored.metadata.resourceVersion, delta.list.resourceVersion) > 0) {
        return DROP;
      }
      write.versions = [];
      this.#tidy(key, write);
      return APPLY;
    }
    if (write.deletions.length > 0 && this.#isOfDeleted(key, write, delta)) {
      const { uid, resourceVersion } = delta.object.metadata;
      const isOlder =
        stored !== undefined &&
        stored.metadata.uid !== uid &&
        compareVersions(stored.metadata.resourceVersion, resourceVersion) < 0;
      if (!isOlder) return DROP;
      this.#observe(key, write, resourceVersion);
      return EVICT_STALE;
    }
    if (write.versions.length === 0) return APPLY;
    return this.#compare(key, write, { delta, stored });
  }

  /** The watch has reached this version: it will not show writes up to it any more. */
  forgetUpTo(version: string, isHeld: (key: string) => boolean): void {
    for (const [key, write] of this.#writes) {
      const last = write.versions.at(-1);
      if (last === undefined || compareVersions(last, version) > 0 || isHeld(key)) continue;
      this.#observe(key, write, version);
    }
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#writes.size);
  }

  /** Whether it is time to call `forgetUpTo`. */
  get isSweepDue(): boolean {
    return this.#writes.size >= this.#sweepAt;
  }

  /** The keys whose writes are not newer than a version. */
  *keysUpTo(version: string): Generator<string> {
    for (const [key, { versions }] of this.#writes) {
      const last = versions.at(-1);
      if (last !== undefined && compareVersions(last, version) <= 0) yield key;
    }
  }

  /** A list has ended: deletions from before its beginning are confirmed. */
  forgetDeletionsBefore(sequence: number): void {
    for (const [key, write] of this.#writes) {
      if (write.deletions.length === 0) continue;
      write.deletions = write.deletions.filter(({ list }) => list >= sequence);
      this.#tidy(key, write);
    }
  }

  clear(): void {
    this.#writes.clear();
    this.#unseen.clear();
  }

  #compare(key: string, write: PendingWrite, at: { delta: Delta; stored: AnyObject | undefined }): Verdict {
    const { delta, stored } = at;
    const { uid, resourceVersion: version } = delta.object.metadata;
    const last = write.versions.at(-1)!;
    if (stored === undefined || write.outside) {
      if (compareVersions(version, last) < 0) return DROP;
      this.#observe(key, write, version);
      return version === last ? DROP : APPLY;
    }
    const order = compareVersions(version, stored.metadata.resourceVersion);
    if (order > 0 || (order === 0 && delta.type === "Deleted")) {
      // The watch skipped the echoes: compare with the last state from outside.
      const { base } = write;
      this.#observe(key, write, version);
      if (delta.type === "Deleted" || uid !== stored.metadata.uid) return APPLY;
      return base?.metadata.uid === uid ? { kind: "apply", old: base } : APPLY_AS_NEW;
    }
    if (uid !== stored.metadata.uid) return DROP;
    const base = write.base?.metadata.uid === uid ? write.base : undefined;
    const isEcho = write.versions.includes(version);
    const isNews = base === undefined || compareVersions(version, base.metadata.resourceVersion) > 0;
    if (!isEcho && !isNews) return DROP;
    write.base = delta.object;
    this.#observe(key, write, version);
    // A list does not show intermediate states: there may have been changes from outside.
    return isNews && (!isEcho || delta.list !== undefined) ? { kind: "notifyOnly", old: base } : DROP;
  }

  /** Whether a delta is about an object that this process deleted. */
  #isOfDeleted(key: string, write: PendingWrite, delta: Delta): boolean {
    const { uid, resourceVersion: version } = delta.object.metadata;
    const deletion = write.deletions.find((candidate) => candidate.uid === uid);
    if (deletion === undefined) {
      const isLater = (earlier: Deletion): boolean => compareVersions(version, earlier.version) > 0;
      // The delta is about an object from before the one that was deleted.
      if (!write.deletions.every(isLater)) return true;
      // Another object has the key now: the watch has passed the deletions of objects that it had shown.
      write.deletions = write.deletions.filter((earlier) => earlier.version === "");
      this.#tidy(key, write);
      return false;
    }
    const survived = delta.list !== undefined && delta.list.sequence > deletion.list;
    if (survived || delta.type === "Deleted") {
      write.deletions = write.deletions.filter((other) => other !== deletion);
      this.#tidy(key, write);
    }
    return !survived;
  }

  #of(key: string, base: AnyObject | undefined): PendingWrite {
    let write = this.#writes.get(key);
    if (write === undefined) {
      write = { origin: "", versions: [], base, outside: false, deletions: [] };
      this.#writes.set(key, write);
    } else if (write.versions.length === 0) write.base = base;
    return write;
  }

  /** The watch has reached this version. */
  #observe(key: string, write: PendingWrite, version: string): void {
    const last = write.versions.at(-1);
    if (last !== undefined && compareVersions(last, version) <= 0) write.versions = [];
    else if (write.versions.length > 0) {
      write.versions = write.versions.filter((own) => compareVersions(own, version) > 0);
    }
    if (write.deletions.length > 0) {
      write.deletions = write.deletions.filter(({ before }) => before === "" || compareVersions(before, version) > 0);
    }
    this.#tidy(key, write);
  }

  #tidy(key: string, write: PendingWrite): void {
    if (write.versions.length === 0 && write.deletions.length === 0) this.#forget(key);
    else if (write.deletions.length === 0) this.#unseen.delete(key);
  }

  #forget(key: string): void {
    this.#writes.delete(key);
    this.#unseen.delete(key);
  }
}

export interface WriteResult {
  /** The object in its new state. */
  readonly object?: AnyObject | undefined;
  /** The object that was deleted. */
  readonly deleted?: { readonly uid: string } | undefined;
  /** Who wrote; handlers are told of it. */
  readonly origin: string;
}
