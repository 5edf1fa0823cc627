/** The part of a kind's objects that an informer keeps, where several replicas divide them. */
import type { AnyObject } from "../resource/handle.ts";

/**
 * Which objects belong to it changes while the process runs; of an object's own fields it looks only at such as tell its
 * part, which should never change.
 */
export interface Portion {
  /** Informers of equal sets and equal portions are one. */
  readonly id: string;
  /** No object belongs to it now. */
  readonly isEmpty: boolean;
  /** Whether an object belongs to it now. */
  has(object: AnyObject): boolean;
  /** Whether all objects of a namespace belong to it, those of all namespaces for `undefined`. */
  hasAll(namespace: string | undefined): boolean;
  /** What a server that divides collections is asked for; `undefined` when no server can divide in this way. */
  readonly shardSelector: string | undefined;
  /** A label selector that shows the portion, and perhaps more. */
  readonly labels: string | undefined;
  /** Told after each change, whether more belongs to it than before. */
  onChange(listener: (isMore: boolean) => void): Disposable;
}

/** Which collections a server does not divide, found out by asking: one that cannot do it shows everything. */
export class DividedCollections {
  readonly #whole = new Set<string>();

  /** Whether the server may be asked for a part of the collection at this path. */
  mayAsk(path: string): boolean {
    return !this.#whole.has(path);
  }

  /** It has shown all of it when it was asked for a part, or has refused to. */
  giveUp(path: string): void {
    this.#whole.add(path);
  }
}
