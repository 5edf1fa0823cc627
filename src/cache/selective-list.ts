/** Lists the metadata of a collection, then fetches whole only those objects that are needed. */
import { listMetadata, listPages, type Page } from "../kube/api/list.ts";
import { collectionPath, type Mapping } from "../kube/api/mapper.ts";
import { streamMetadata } from "../kube/api/metadata-stream.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { CompleteOptions } from "./reflector-options.ts";
import { type Place, WantedBodies } from "./wanted-bodies.ts";

export interface SelectiveListOptions extends Pick<
  CompleteOptions,
  "transport" | "namespace" | "fields" | "pageSize" | "room" | "onLeftOut"
> {
  readonly mapping: Mapping;
  readonly labels: string | undefined;
  readonly signal: AbortSignal;
  /** Which objects are needed whole, decided by their metadata; `undefined` once all are. */
  readonly wants: () => ((object: AnyObject) => boolean) | undefined;
  /** Makes what is kept of an object that is not needed whole; the given object keeps its whole page in memory. */
  readonly reduce: (object: AnyObject) => AnyObject;
  /** Whether to stream the metadata of that many objects, as far as the server is known to support it. */
  readonly mayStreamMetadata: (objects: number) => boolean;
  /** Tries a streaming list of that many objects; `undefined` when the server does not support it. */
  readonly stream: <T>(objects: number, run: (signal: AbortSignal) => Promise<T | undefined>) => Promise<T | undefined>;
  /** Takes a part of the list: reduced objects that nobody needs whole, and whole objects. */
  readonly onObjects: (objects: readonly AnyObject[], resourceVersion: string) => void;
  /** Called when the list begins again: the objects that it brought so far are void. */
  readonly onRestart: () => void;
}

/** How many requests for single objects run in parallel. */
const PARALLEL = 8;
/** The maximum size in bytes, roughly, of one page that is requested by a selector. */
const AT_ONCE_BYTES = 32 * 1_024 * 1_024;

/**
 * Lists metadata first: most objects of an owned kind belong to somebody else, which metadata shows at a tenth of the
 * bytes. The bodies that are needed are then fetched by a label selector or by name.
 *
 * **Guarantees.** Every object is in the state of the returned resource version, or in a newer one that the watch from
 * that version repeats.
 *
 * @returns `undefined` when it is cheaper to list all objects whole; what was listed so far is void then.
 * @throws the errors of a list.
 */
export async function listSelectively(options: SelectiveListOptions): Promise<string | undefined> {
  const list = new SelectiveList(options);
  return (await list.metadata(true)) ? list.bodies() : undefined;
}

class SelectiveList {
  readonly #options: SelectiveListOptions;
  readonly #path: string;
  #bodies: WantedBodies | undefined;
  #version = "";

  constructor(options: SelectiveListOptions) {
    this.#options = options;
    this.#path = collectionPath(options.mapping, options.namespace);
  }

  /** Passes on the objects that are not needed whole. @returns `false` when it is cheaper to list all objects whole. */
  async metadata(mayTryStream: boolean): Promise<boolean> {
    const {
      transport,
      mapping: type,
      labels,
      fields,
      pageSize: limit,
      room,
      signal,
      onObjects,
      onLeftOut,
    } = this.#options;
    if (mayTryStream && this.#options.mayStreamMetadata(0)) return (await this.#streamed(0)) || this.metadata(false);
    this.#bodies = undefined;
    let isWorthIt = true;
    let streamed: number | undefined;
    const { resourceVersion } = await listMetadata(transport, {
      path: this.#path,
      type,
      labels,
      fields,
      limit,
      room,
      signal,
      fullListIfExpired: true,
      onLeftOut,
      onRestart: () => {
        this.#bodies = undefined;
        this.#options.onRestart();
      },
      onPage: (objects, { remaining, isWhole, resourceVersion: version }) => {
        signal.throwIfAborted();
        if (isWhole) return onObjects(objects, version);
        const wants = this.#options.wants();
        isWorthIt = wants !== undefined;
        if (wants === undefined) return false;
        const isFirst = this.#bodies === undefined;
        const bodies = (this.#bodies ??= new WantedBodies(wants));
        const others: AnyObject[] = [];
        for (const object of objects) if (!bodies.see(object)) others.push(this.#options.reduce(object));
        if (isFirst) {
          isWorthIt = bodies.wanted * 2 <= bodies.size;
          if (isWorthIt && mayTryStream && remaining !== undefined && this.#options.mayStreamMetadata(remaining))
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

  /** Fetches the bodies. @returns the version of the list; `undefined` when it is cheaper to list all objects whole. */
  async bodies(): Promise<string | undefined> {
    const bodies = this.#bodies;
    if (bodies === undefined || bodies.wanted === 0) return this.#version;
    const fetching = bodies.fetching();
    if (fetching.kind === "all") return undefined;
    const { labels, fields } = this.#options;
    if (fetching.kind === "selector") {
      const { selector, objects } = fetching;
      await this.#selected({ labels: both(labels, selector), fields }, objects);
    }
    // Objects that the selector did not show have changed or were deleted in the meantime.
    await this.#places(bodies.places());
    return this.#version;
  }

  /** @returns whether the server supports streaming. */
  async #streamed(objects: number): Promise<boolean> {
    const { transport, mapping: type, labels, fields, wants, reduce, onObjects, stream } = this.#options;
    const isWanted = wants();
    if (isWanted === undefined) return false;
    const bodies = new WantedBodies(isWanted);
    const others = new Map<string, AnyObject>();
    const version = await stream(objects, (signal) =>
      streamMetadata(transport, {
        path: this.#path,
        type,
        labels,
        fields,
        signal,
        onObject: (object) => {
          if (bodies.see(object)) others.delete(keyString(object.metadata));
          else others.set(keyString(object.metadata), reduce(object));
        },
        onDeleted: (object) => {
          bodies.forget(object);
          others.delete(keyString(object.metadata));
        },
      }),
    );
    // The needs may have grown since the request was sent.
    if (version === undefined || wants() !== isWanted) return false;
    this.#bodies = bodies;
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
      // Nothing may be handed over once the list has failed.
      failing.abort(error);
      await Promise.allSettled(running);
      throw error;
    }
  }

  /**
   * kube-apiserver answers only the first page of a label selector from its cache; further pages cost ten times as
   * much. So the first few objects serve to estimate the size of the result, and a result that is small enough is
   * requested in one page.
   */
  async #selected(selectors: Pick<Part, "labels" | "fields">, objects: number): Promise<void> {
    const { signal, pageSize = SAMPLE, room } = this.#options;
    const part = { ...selectors, signal };
    let isAll = true;
    let isForOnce = false;
    await this.#whole(this.#path, { ...part, limit: Math.min(pageSize, SAMPLE) }, (items, { hasNext, bytes }) => {
      isAll = !hasNext;
      isForOnce = (bytes() / items) * objects <= Math.min(AT_ONCE_BYTES, 2 * (room?.pageBytes ?? Infinity));
      return true;
    });
    if (!isAll) await this.#whole(this.#path, isForOnce ? { ...part, limit: 0 } : part);
  }

  /** Passes on the missing bodies of a part of the collection, page by page, until `isEnough`. */
  async #whole(
    path: string,
    part: Part,
    isEnough: (objects: number, page: Page) => boolean = () => false,
  ): Promise<void> {
    const { transport, onObjects, pageSize, room, onLeftOut } = this.#options;
    const bodies = this.#bodies!;
    await listPages<AnyObject>(transport, {
      path,
      limit: pageSize,
      room,
      ...part,
      notOlderThan: this.#version,
      fullListIfExpired: true,
      onLeftOut,
      onPage: (objects, page) => {
        part.signal.throwIfAborted();
        onObjects(
          objects.filter((object) => bodies.forget(object)),
          this.#version,
        );
        return isEnough(objects.length, page) ? false : undefined;
      },
    });
  }
}

/** The number of objects of a selector that are examined before the way to request the others is chosen. */
const SAMPLE = 50;

/** A part of the collection. */
interface Part {
  readonly labels: string | undefined;
  readonly fields: string | undefined;
  readonly signal: AbortSignal;
  /** Objects per page; 0 for everything in one page. */
  readonly limit?: number;
}

/** Combines two selectors: an object must match both. */
function both(one: string | undefined, other: string): string {
  return one === undefined || one === "" ? other : `${one},${other}`;
}

/** A field selector for one object; the characters that have a meaning in selectors are escaped. */
function named(name: string): string {
  return `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`;
}
