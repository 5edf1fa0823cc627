/** Remembers the objects that were converted last. */
import type { WireObject } from "./wire-object.ts";

/** The number of remembered objects: enough for the applies that are computed at the same time. */
const MOST = 32;
const IDENTITY = ["namespace", "name", "uid"] as const;

/**
 * The objects that were converted last, whole and in each of their versions. The API server has an object converted
 * right before a part of it. The whole object has values for the part's missing fields that the author's functions
 * accept. It is not always available, because the two requests may reach different replicas.
 */
export class RecentObjects {
  readonly #objects = new Map<string, WireObject>();

  keep(object: WireObject): void {
    const { apiVersion, kind, metadata } = object;
    const key = JSON.stringify([apiVersion, kind, ...IDENTITY.map((name) => metadata[name])]);
    this.#objects.delete(key);
    this.#objects.set(key, object);
    if (this.#objects.size > MOST) this.#objects.delete(this.#objects.keys().next().value!);
  }

  /** Returns the whole object of a part, which has some of its identity; `undefined` when there is none. */
  wholeOf({ apiVersion, kind, metadata }: WireObject): WireObject | undefined {
    return [...this.#objects.values()].findLast(
      (one) =>
        one.kind === kind &&
        one.apiVersion === apiVersion &&
        IDENTITY.every((name) => metadata[name] === undefined || metadata[name] === one.metadata[name]),
    );
  }
}
