/** Lists the metadata of a collection, and then, whole, what of it is wanted. */
import { listMetadata, listPages, type Page } from "../kube/api/list.ts";
import { collectionPath, type Mapping } from "../kube/api/mapper.ts";
import { streamMetadata } from "../kube/api/metadata-stream.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { type Place, WantedBodies } from "./wanted-bodies.ts";

export interface SelectiveListOptions {
  readonly transport: Transport;
  readonly mapping: Mapping;
  /** Empty for all. */
  readonly namespace: string;
  readonly labels: string | undefined;
  readonly fields: string | undefined;
  /** Of every page. @default more for long lists */
  readonly pageSize: number | undefined;
  readonly signal: AbortSignal;
  /** Which objects are wanted whole, told from their metadata; `undefined` when all are, by now. */
  readonly wants: () => ((object: AnyObject) => boolean) | undefined;
  /** What is kept of an object that is not wanted whole; what it is given holds on to the answer that it came with. */
  readonly reduce: (object: AnyObject) => AnyObject;
  /** Whether that many objects are better streamed, as far as the server is known to do it. */
  readonly mayStream: (objects: number) => boolean;
  /** Tries a streaming list of that many objects; `undefined` when the server does not do it. */
  readonly stream: <T>(objects: number, run: (signal: AbortSignal) => Promise<T | undefined>) => Promise<T | undefined>;
  /** Some of the list: what is left of objects that nobody wants, and whole objects. */
  readonly onObjects: (objects: readonly AnyObject[], resourceVersion: string) => void;
  /** The server shows something that nobody could work with. */
  readonly onLeftOut?: ((object: unknown, flaw: string) => void) | undefined;
  /** What came so far is to be forgotten. */
  readonly onRestart: () => void;
}

/** Requests for single objects that are under way at a time. */
const PARALLEL = 8;
/** What a selector shows is asked for at once as long as it is no more than this, about. */
const AT_ONCE_BYTES = 32 * 1_024 * 1_024;

/**
 * Most objects of an owned kind are somebody else's. Their metadata says so, at a tenth of the bytes; what is wanted is
 * then got by a selector, or by its names.
 *
 * **Guarantees.** All objects are in the state of the version that is returned, or in a newer one, which the watch that
 * goes on from that version repeats.
 *
 * @returns `undefined` when all objects are better listed whole; what came so far does not count then.
 * @throws what a list throws.
 */
export async function listSelectively(options: SelectiveListOptions): Promise<string | undefined> {
  const list = new SelectiveList(options);
  return (await list.metadata(true)) ? list.bodies() : undefined;
}

class SelectiveList {
  readonly #options: SelectiveListOptions;
  readonly #path: string;
  #seen: WantedBodies | undefined;
  #version = "";

  constructor(options: SelectiveListOptions) {
    this.#options = options;
    this.#path = collectionPath(options.mapping, options.namespace);
  }

  /** Hands over what is not wanted whole. @returns `false` when all objects are better listed whole. */
  async metadata(mayStream: boolean): Promise<boolean> {
    const { transport, mapping: type, labels, fields, pageSize: limit, signal, onObjects, onLeftOut } = this.#options;
    if (mayStream && this.#options.mayStream(0)) return (await this.#streamed(0)) || this.metadata(false);
    this.#seen = undefined;
    let isWorthIt = true;
    let streamed: number | undefined;
    const { resourceVersion } = await listMetadata(transport, {
      path: this.#path,
      type,
      labels,
      fields,
      limit,
      signal,
      fullListIfExpired: true,
      onLeftOut,
      onRestart: () => {
        this.#seen = undefined;
        this.#options.onRestart();
      },
      onPage: (objects, { remaining, isWhole, resourceVersion: version }) => {
        signal.throwIfAborted();
        if (isWhole) return onObjects(objects, version);
        const wants = this.#options.wants();
        isWorthIt = wants !== undefined;
        if (wants === undefined) return false;
        const isFirst = this.#seen === undefined;
        const seen = (this.#seen ??= new WantedBodies(wants));
        const others: AnyObject[] = [];
        for (const object of objects) if (!seen.see(object)) others.push(this.#options.reduce(object));
        if (isFirst) {
          isWorthIt = seen.wanted * 2 <= seen.size;
          if (isWorthIt && mayStream && remaining !== undefined && this.#options.mayStream(remaining))
            streamed = remaining;
          if (!isWorthIt || streamed !== undefined) return false;
        }
        onObjects(others, version);
        return undefined;
      },
    });
    if (isWorthIt && streamed !== undefined) return (await this.#streamed(streamed)) || this.metadata(false);
    this.#version = resourceVersion;
    return isWorthIt;
  }

  /** Gets what is wanted whole, and returns the version of the list; `undefined` when all objects are better listed whole. */
  async bodies(): Promise<string | undefined> {
    const seen = this.#seen;
    if (seen === undefined || seen.wanted === 0) return this.#version;
    const fetching = seen.fetching();
    if (fetching.kind === "all") return undefined;
    const { labels, fields } = this.#options;
    if (fetching.kind === "selector") {
      const { selector, objects } = fetching;
      await this.#selected({ labels: both(labels, selector), fields }, objects);
    }
    // What a selector shows no more has changed since, or has gone.
    await this.#places(seen.places());
    return this.#version;
  }

  /** @returns whether the server did it. */
  async #streamed(objects: number): Promise<boolean> {
    const { transport, mapping: type, labels, fields, wants, reduce, onObjects, stream } = this.#options;
    const isWanted = wants();
    if (isWanted === undefined) return false;
    const seen = new WantedBodies(isWanted);
    const others = new Map<string, AnyObject>();
    const version = await stream(objects, (signal) =>
      streamMetadata(transport, {
        path: this.#path,
        type,
        labels,
        fields,
        signal,
        onObject: (object) => {
          if (seen.see(object)) others.delete(keyString(object.metadata));
          else others.set(keyString(object.metadata), reduce(object));
        },
        onDeleted: (object) => {
          seen.forget(object);
          others.delete(keyString(object.metadata));
        },
      }),
    );
    // More may be wanted than when it was sent for.
    if (version === undefined || wants() !== isWanted) return false;
    this.#seen = seen;
    this.#version = version;
    onObjects([...others.values()], version);
    return true;
  }

  async #places(places: readonly Place[]): Promise<void> {
    const { mapping, labels, fields, signal } = this.#options;
    const failing = new AbortController();
    const any = AbortSignal.any([signal, failing.signal]);
    const lists: (() => Promise<void>)[] = [];
    for (const { namespace, names } of places) {
      const path = collectionPath(mapping, namespace);
      if (names === undefined) lists.push(() => this.#whole(path, { labels, fields, signal: any }));
      for (const name of names ?? []) {
        lists.push(() => this.#whole(path, { labels, fields: both(fields, named(name)), signal: any }));
      }
    }
    const rest = lists.values();
    const running = Array.from({ length: Math.min(PARALLEL, lists.length) }, async () => {
      for (const list of rest) await list();
    });
    try {
      await Promise.all(running);
    } catch (error) {
      // Nothing may be handed over after the list has failed.
      failing.abort(error);
      await Promise.allSettled(running);
      throw error;
    }
  }

  /**
   * Pages after the first of what a label selector shows are no longer answered from the cache of kube-apiserver, at ten
   * times the cost. So the first page tells how much it is, and everything is asked for again at once.
   */
  async #selected(selectors: Pick<Part, "labels" | "fields">, objects: number): Promise<void> {
    let isForOnce = false;
    const { signal } = this.#options;
    await this.#whole(this.#path, { ...selectors, signal }, (items, { hasNext, bytes }) => {
      isForOnce = hasNext && (bytes() / items) * objects <= AT_ONCE_BYTES;
      return isForOnce;
    });
    if (isForOnce) await this.#whole(this.#path, { ...selectors, signal, limit: 0 });
  }

  /** Hands over what is waited for of a part of the collection, page by page, until `isEnough`. */
  async #whole(
    path: string,
    part: Part,
    isEnough: (objects: number, page: Page) => boolean = () => false,
  ): Promise<void> {
    const { transport, onObjects, pageSize, onLeftOut } = this.#options;
    const seen = this.#seen!;
    await listPages<AnyObject>(transport, {
      path,
      limit: pageSize,
      ...part,
      notOlderThan: this.#version,
      fullListIfExpired: true,
      onLeftOut,
      onPage: (objects, page) => {
        part.signal.throwIfAborted();
        onObjects(
          objects.filter((object) => seen.forget(object)),
          this.#version,
        );
        return isEnough(objects.length, page) ? false : undefined;
      },
    });
  }
}

/** Of the collection. */
interface Part {
  readonly labels: string | undefined;
  readonly fields: string | undefined;
  readonly signal: AbortSignal;
  /** As of a list. */
  readonly limit?: number;
}

/** Requirements of one selector and of another. */
function both(one: string | undefined, other: string): string {
  return one === undefined || one === "" ? other : `${one},${other}`;
}

/** A field selector of one object; few kinds allow in their names what has a meaning there. */
function named(name: string): string {
  return `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`;
}
