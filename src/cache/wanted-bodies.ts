/** Which objects of a list of metadata are wanted whole, and the cheapest way to get them. */
import type { AnyObject } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import { LabelSieve } from "./label-sieve.ts";

/** What a request costs the API server, in objects of a list: most of a millisecond. */
const REQUEST = 20;

/** How to get what is wanted. */
export type Fetching =
  | { readonly kind: "all" }
  /** One that shows that many objects, about. */
  | { readonly kind: "selector"; readonly selector: string; readonly objects: number }
  | { readonly kind: "places" };

/** A namespace as a whole, or objects of it by their names. */
export interface Place {
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  /** `undefined` for all of the namespace. */
  readonly names: readonly string[] | undefined;
}

/** What a list of metadata has shown so far. */
export class WantedBodies {
  readonly #wants: (object: AnyObject) => boolean;
  readonly #sieve = new LabelSieve();
  readonly #wanted = new Map<string, Key>();
  /** All objects, by namespace. */
  readonly #sizes = new Map<string, number>();
  #size = 0;

  constructor(wants: (object: AnyObject) => boolean) {
    this.#wants = wants;
  }

  /** Objects so far. */
  get size(): number {
    return this.#size;
  }

  /** Of those, which are waited for. */
  get wanted(): number {
    return this.#wanted.size;
  }

  /** Takes note of an object. @returns whether it is wanted whole. */
  see(object: AnyObject): boolean {
    const { metadata } = object;
    const { namespace = "" } = metadata;
    this.#size++;
    this.#sizes.set(namespace, (this.#sizes.get(namespace) ?? 0) + 1);
    if (this.#wants(object)) {
      const { name } = metadata;
      this.#sieve.wanted(metadata.labels);
      this.#wanted.set(keyString(metadata), { name, namespace });
      return true;
    }
    this.#sieve.other(metadata);
    if (this.#wanted.size > 0) this.forget(object);
    return false;
  }

  /** It came whole, or has gone: nobody waits for it. @returns whether it was waited for. */
  forget({ metadata }: AnyObject): boolean {
    return this.#wanted.delete(keyString(metadata));
  }

  /** How to get what is waited for. */
  fetching(): Fetching {
    const all = REQUEST + this.#size;
    const { selector, others } = this.#sieve.best();
    const objects = this.#wanted.size + others;
    const bySelector = selector === "" ? Infinity : REQUEST + objects;
    const byPlace = this.places().reduce((sum, { namespace, names }) => sum + this.#cost(namespace, names), 0);
    if (Math.min(byPlace, bySelector) >= all) return { kind: "all" };
    return byPlace <= bySelector ? { kind: "places" } : { kind: "selector", selector, objects };
  }

  /** Where to find what is waited for. */
  places(): readonly Place[] {
    const byNamespace = Map.groupBy(this.#wanted.values(), ({ namespace = "" }) => namespace);
    return Array.from(byNamespace, ([namespace, keys]) => {
      const isFew = namespace === "" || keys.length * REQUEST < this.#cost(namespace, undefined);
      return { namespace, names: isFew ? keys.map(({ name }) => name) : undefined };
    });
  }

  #cost(namespace: string, names: readonly string[] | undefined): number {
    return names === undefined ? REQUEST + (this.#sizes.get(namespace) ?? 0) : names.length * REQUEST;
  }
}
