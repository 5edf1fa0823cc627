/** What this process has written and an informer's stream has not shown yet. */
import type { AnyObject } from "../resource/handle.ts";
import { compareVersions } from "../resource/meta.ts";
import type { Delta } from "./delta-fifo.ts";

interface Deletion {
  readonly uid: string;
  /** The last version known of the deleted object; empty when it was never seen. */
  readonly version: string;
  /** The list that was the last to begin before the deletion. */
  readonly list: number;
}

interface RememberedDeletion extends Deletion {
  /** Our first write after it: a stream that has come so far has passed the deletion too. Empty as long as there is none. */
  before: string;
}

interface Written {
  /** Who wrote last. */
  origin: string;
  /** Answers that the stream has not shown, in order. */
  versions: string[];
  /** What the stream has shown last; `undefined` as long as it has shown nothing of the object. */
  base: AnyObject | undefined;
  /** The last write took the object out of the informer's set. */
  outside: boolean;
  deletions: readonly RememberedDeletion[];
}

/** What to do with a delta. */
export type Verdict =
  /** It counts; `old` is what handlers have last been told of from outside, when that is not what the store holds. */
  | { readonly kind: "apply"; readonly old?: AnyObject | undefined }
  | { readonly kind: "drop" }
  /** It is about an object that is gone, but shows that the one in the store, from before it, is gone too. */
  | { readonly kind: "displace" }
  /** It counts, and handlers have never been told of the object from outside: they are to see it as new. */
  | { readonly kind: "renew" }
  /** The store has newer, but this came from outside and nobody has been told of it; without `old` as of a new object. */
  | { readonly kind: "tell"; readonly old: AnyObject | undefined };

const APPLY: Verdict = { kind: "apply" };
const DROP: Verdict = { kind: "drop" };
const RENEW: Verdict = { kind: "renew" };
const DISPLACE: Verdict = { kind: "displace" };

/** Deletions of objects that were never seen here may never be confirmed; so many are remembered. */
const MAX_UNSEEN = 1_000;
/** Writes outside an informer's set are never shown by its stream: from so many on they are looked through. */
const SWEEP_AT = 1_000;

/**
 * Own writes by key, from the answer until the stream has passed them. No clock is involved: only resource versions,
 * uids and the order of lists decide.
 */
export class OwnWrites {
  readonly #written = new Map<string, Written>();
  readonly #unseen = new Set<string>();
  #sweepAt = SWEEP_AT;

  get size(): number {
    return this.#written.size;
  }

  /** A write was answered; `before` is what the store held. */
  wrote(
    key: string,
    object: AnyObject,
    about: { readonly before: AnyObject | undefined; readonly outside: boolean; readonly origin: string },
  ): void {
    const written = this.#of(key, about.before);
    written.origin = about.origin;
    const { resourceVersion } = object.metadata;
    const { versions } = written;
    if (versions.includes(resourceVersion)) return;
    for (const deletion of written.deletions) deletion.before ||= resourceVersion;
    versions.push(resourceVersion);
    if (versions.length > 1) versions.sort(compareVersions);
    if (versions.at(-1) === resourceVersion) written.outside = about.outside;
  }

  /** Handlers take notice of what these have written: it counts as told from outside, as it is in the store. */
  told(origins: readonly string[], stored: (key: string) => AnyObject | undefined): void {
    for (const [key, written] of this.#written) {
      if (written.versions.length > 0 && !written.outside && origins.includes(written.origin)) {
        written.base = stored(key);
      }
    }
  }

  /** A write was answered after a later one of the same object. */
  late(key: string, version: string): void {
    const written = this.#written.get(key);
    if (written === undefined || written.versions.length === 0 || written.versions.includes(version)) return;
    written.versions.push(version);
    written.versions.sort(compareVersions);
  }

  /** Whether a deletion of the object, or a later write of the name, was answered before this one. */
  isOvertaken(key: string, { metadata }: AnyObject): boolean {
    const written = this.#written.get(key);
    if (written === undefined) return false;
    if (written.deletions.some(({ uid }) => uid === metadata.uid)) return true;
    const last = written.versions.at(-1);
    return last !== undefined && compareVersions(metadata.resourceVersion, last) < 0;
  }

  /** A deletion was answered; `version` is the last one known of the object, `list` the last list begun before. */
  deleted(key: string, deletion: Deletion): void {
    const written = this.#of(key, undefined);
    written.deletions = [...written.deletions, { ...deletion, before: "" }];
    if (deletion.version !== "") {
      written.versions = [];
      written.base = undefined;
      written.outside = false;
      return;
    }
    this.#unseen.add(key);
    if (this.#unseen.size <= MAX_UNSEEN) return;
    const [oldest] = this.#unseen;
    this.#forget(oldest!);
  }

  /** Judges a delta of a key by what was written; `stored` is what the store holds. */
  judge(key: string, delta: Delta, stored: AnyObject | undefined): Verdict {
    const written = this.#written.get(key);
    if (written === undefined) return APPLY;
    if (delta.type === "Deleted" && delta.list !== undefined) {
      if (stored !== undefined && compareVersions(stored.metadata.resourceVersion, delta.list.resourceVersion) > 0) {
        return DROP;
      }
      written.versions = [];
      this.#tidy(key, written);
      return APPLY;
    }
    if (written.deletions.length > 0 && this.#isOfDeleted(key, written, delta)) {
      const { uid, resourceVersion } = delta.object.metadata;
      const isOlder =
        stored !== undefined &&
        stored.metadata.uid !== uid &&
        compareVersions(stored.metadata.resourceVersion, resourceVersion) < 0;
      if (!isOlder) return DROP;
      this.#shown(key, written, resourceVersion);
      return DISPLACE;
    }
    if (written.versions.length === 0) return APPLY;
    return this.#compared(key, written, { delta, stored });
  }

  /** Forgets the only write of a key that is remembered, when its echo has come; `false` when there is more to it. */
  settle(key: string, version: string): boolean {
    const written = this.#written.get(key);
    if (written === undefined || written.deletions.length > 0) return false;
    if (written.versions.length !== 1 || written.versions[0] !== version) return false;
    this.#written.delete(key);
    return true;
  }

  /** The stream has come to this version: writes up to it will not be shown any more. */
  passed(version: string, isHeld: (key: string) => boolean): void {
    for (const [key, written] of this.#written) {
      const last = written.versions.at(-1);
      if (last === undefined || compareVersions(last, version) > 0 || isHeld(key)) continue;
      this.#shown(key, written, version);
    }
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#written.size);
  }

  /** Whether it is time to call `passed`. */
  get isCrowded(): boolean {
    return this.#written.size >= this.#sweepAt;
  }

  /** Keys of writes up to a version. */
  *upTo(version: string): Generator<string> {
    for (const [key, { versions }] of this.#written) {
      const last = versions.at(-1);
      if (last !== undefined && compareVersions(last, version) <= 0) yield key;
    }
  }

  /** A list has ended: deletions before its beginning are settled. */
  listed(sequence: number): void {
    for (const [key, written] of this.#written) {
      if (written.deletions.length === 0) continue;
      written.deletions = written.deletions.filter(({ list }) => list >= sequence);
      this.#tidy(key, written);
    }
  }

  clear(): void {
    this.#written.clear();
    this.#unseen.clear();
  }

  #compared(key: string, written: Written, at: { delta: Delta; stored: AnyObject | undefined }): Verdict {
    const { delta, stored } = at;
    const { uid, resourceVersion: version } = delta.object.metadata;
    const last = written.versions.at(-1)!;
    if (stored === undefined || written.outside) {
      if (compareVersions(version, last) < 0) return DROP;
      this.#shown(key, written, version);
      return version === last ? DROP : APPLY;
    }
    const order = compareVersions(version, stored.metadata.resourceVersion);
    if (order > 0 || (order === 0 && delta.type === "Deleted")) {
      // Without the echoes something was skipped: compare with what was known before.
      const { base } = written;
      this.#shown(key, written, version);
      if (delta.type === "Deleted" || uid !== stored.metadata.uid) return APPLY;
      return base?.metadata.uid === uid ? { kind: "apply", old: base } : RENEW;
    }
    if (uid !== stored.metadata.uid) return DROP;
    const base = written.base?.metadata.uid === uid ? written.base : undefined;
    const isEcho = written.versions.includes(version);
    const isNews = base === undefined || compareVersions(version, base.metadata.resourceVersion) > 0;
    if (!isEcho && !isNews) return DROP;
    written.base = delta.object;
    this.#shown(key, written, version);
    // A list shows no changes in between: there may have been some from outside.
    return isNews && (!isEcho || delta.list !== undefined) ? { kind: "tell", old: base } : DROP;
  }

  /** Whether a delta is about an object that this process has deleted. */
  #isOfDeleted(key: string, written: Written, delta: Delta): boolean {
    const { uid, resourceVersion: version } = delta.object.metadata;
    const deletion = written.deletions.find((candidate) => candidate.uid === uid);
    if (deletion === undefined) {
      const isLater = (earlier: Deletion): boolean => compareVersions(version, earlier.version) > 0;
      // Of an object from before the one that we deleted.
      if (!written.deletions.every(isLater)) return true;
      // Another object has the name now: the stream has passed the deletions, those of objects it had shown at least.
      written.deletions = written.deletions.filter((earlier) => earlier.version === "");
      this.#tidy(key, written);
      return false;
    }
    const survived = delta.list !== undefined && delta.list.sequence > deletion.list;
    if (survived || delta.type === "Deleted") {
      written.deletions = written.deletions.filter((other) => other !== deletion);
      this.#tidy(key, written);
    }
    return !survived;
  }

  #of(key: string, base: AnyObject | undefined): Written {
    let written = this.#written.get(key);
    if (written === undefined) {
      written = { origin: "", versions: [], base, outside: false, deletions: [] };
      this.#written.set(key, written);
    } else if (written.versions.length === 0) written.base = base;
    return written;
  }

  /** The stream has come to this version. */
  #shown(key: string, written: Written, version: string): void {
    const last = written.versions.at(-1);
    if (last !== undefined && compareVersions(last, version) <= 0) written.versions = [];
    else if (written.versions.length > 0) {
      written.versions = written.versions.filter((own) => compareVersions(own, version) > 0);
    }
    if (written.deletions.length > 0) {
      written.deletions = written.deletions.filter(
        ({ before }) => before === "" || compareVersions(before, version) > 0,
      );
    }
    this.#tidy(key, written);
  }

  #tidy(key: string, written: Written): void {
    if (written.versions.length === 0 && written.deletions.length === 0) this.#forget(key);
    else if (written.deletions.length === 0) this.#unseen.delete(key);
  }

  #forget(key: string): void {
    this.#written.delete(key);
    this.#unseen.delete(key);
  }
}
