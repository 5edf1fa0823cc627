/** Finds out which objects of a metadata list are needed whole, and the cheapest way to get them. */
import type { AnyObject } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import { LabelSieve } from "./label-sieve.ts";

/** The cost of a request for the API server, expressed in objects of a list: most of a millisecond. */
const REQUEST = 20;

/** How to get the bodies. */
export type Fetching =
  | { readonly kind: "all" }
  /** By a label selector that matches about that many objects. */
  | { readonly kind: "selector"; readonly selector: string; readonly objects: number }
  | { readonly kind: "places" };

/** A whole namespace, or objects of it by name. */
export interface Place {
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  /** `undefined` for the whole namespace. */
  readonly names: readonly string[] | undefined;
}

/** Records the objects that a metadata list has shown so far. */
export class WantedBodies {
  readonly #wants: (object: AnyObject) => boolean;
  readonly #sieve = new LabelSieve();
  readonly #missing = new Map<string, Key>();
  /** The number of all objects, by namespace. */
  readonly #sizes = new Map<string, number>();
  #size = 0;

  constructor(wants: (object: AnyObject) => boolean) {
    this.#wants = wants;
  }

  /** The number of objects that the list has shown. */
  get size(): number {
    return this.#size;
  }

  /** How many bodies are still missing. */
  get wanted(): number {
    return this.#missing.size;
  }

  /** Takes note of an object. @returns whether it is needed whole. */
  see(object: AnyObject): boolean {
    const { metadata } = object;
    const { namespace = "" } = metadata;
    this.#size++;
    this.#sizes.set(namespace, (this.#sizes.get(namespace) ?? 0) + 1);
    if (this.#wants(object)) {
      const { name } = metadata;
      this.#sieve.wanted(metadata.labels);
      this.#missing.set(keyString(metadata), { name, namespace });
      return true;
    }
    this.#sieve.other(metadata);
    if (this.#missing.size > 0) this.forget(object);
    return false;
  }

  /** Records that the object has arrived whole or was deleted. @returns whether its body was missing. */
  forget({ metadata }: AnyObject): boolean {
    return this.#missing.delete(keyString(metadata));
  }

  /** The cheapest way to get the missing bodies. */
  fetching(): Fetching {
    const all = REQUEST + this.#size;
    const { selector, others } = this.#sieve.best();
    const objects = this.#missing.size + others;
    const bySelector = selector === "" ? Infinity : REQUEST + objects;
    const byPlace = this.places().reduce((sum, { namespace, names }) => sum + this.#cost(namespace, names), 0);
    if (Math.min(byPlace, bySelector) >= all) return { kind: "all" };
    return byPlace <= bySelector ? { kind: "places" } : { kind: "selector", selector, objects };
  }

  /** The namespaces and names of the missing bodies. */
  places(): readonly Place[] {
    const byNamespace = Map.groupBy(this.#missing.values(), ({ namespace = "" }) => namespace);
    return Array.from(byNamespace, ([namespace, keys]) => {
      const isFew = namespace === "" || keys.length * REQUEST < this.#cost(namespace, undefined);
      return { namespace, names: isFew ? keys.map(({ name }) => name) : undefined };
    });
  }

  #cost(namespace: string, names: readonly string[] | undefined): number {
    return names === undefined ? REQUEST + (this.#sizes.get(namespace) ?? 0) : names.length * REQUEST;
  }
}
