/**
 * Own writes whose response and watch event are parsed once, in whichever order they arrive.
 *
 * An event that repeats a known response is not parsed at all. An event that arrives before the response is deferred as it
 * was parsed, together with its line, and the response then takes over its object.
 */
import type { AnyObject } from "../resource/handle.ts";
import type { Delta } from "./delta-fifo.ts";
import { isEchoOf, type WriteResponse, WriteResponseCache } from "./write-response-cache.ts";

export class WriteEchoes {
  readonly #responses = new WriteResponseCache();
  /** The lines of deferred deltas whose objects are still as they were parsed. */
  readonly #lines = new WeakMap<Delta, string>();
  /** Deferred deltas whose objects the responses to writes hold too. */
  readonly #shared = new WeakSet<Delta>();

  /** How many responses wait for their echo. */
  get size(): number {
    return this.#responses.size;
  }

  /**
   * Remembers a response until its echo arrives; an echo that is deferred already gets the stored object.
   *
   * @param parsed the object that `find` has returned, or any other.
   * @param first the first deferred delta of the key.
   */
  remember(response: WriteResponse, parsed: AnyObject, first: Delta | undefined): void {
    if (!this.#replace(first, parsed, response.object)) this.#responses.add(response);
  }

  /** The response that a line of the watch repeats; it is forgotten. */
  match(line: string): WriteResponse | undefined {
    return this.#responses.matchWriteEcho(line);
  }

  /** Remembers the line of a deferred delta. */
  defer(delta: Delta, line: string): void {
    this.#lines.set(delta, line);
  }

  /** The object of a deferred delta of a key that was parsed from the same text as a response; it is shared from now on. */
  find(first: Delta | undefined, response: string): AnyObject | undefined {
    for (let delta = first; delta !== undefined; delta = delta.next) {
      const line = this.#lines.get(delta);
      if (line === undefined || !isEchoOf(line, response)) continue;
      this.#shared.add(delta);
      return delta.object;
    }
    return undefined;
  }

  /** Transforms the object of a released delta that is still as it was parsed; the echo of a write gets the stored object. */
  release(delta: Delta, transform: (object: AnyObject, shared: boolean) => AnyObject): void {
    const line = this.#lines.get(delta);
    if (line === undefined) return;
    this.#lines.delete(delta);
    delta.object = this.match(line)?.object ?? transform(delta.object, this.#shared.has(delta));
  }

  /** Forgets responses whose echoes will not arrive any more, because the watch has passed their version. */
  forgetUpTo(isPassed: (version: string) => boolean): void {
    this.#responses.forgetUpTo(isPassed);
  }

  clear(): void {
    this.#responses.clear();
  }

  #replace(first: Delta | undefined, parsed: AnyObject, stored: AnyObject): boolean {
    for (let delta = first; delta !== undefined; delta = delta.next) {
      if (delta.object !== parsed) continue;
      delta.object = stored;
      this.#lines.delete(delta);
      return true;
    }
    return false;
  }
}
