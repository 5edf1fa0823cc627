/** A memory of a few facts about each object besides its status, for a limited number of objects. */

/** Forgets the oldest entries beyond `limit`, because nothing reports that an object is gone. */
export class Remembered<T> {
  readonly #limit: number;
  readonly #entries = new Map<string, T>();

  /** @param limit the number of entries. @default 10_000 */
  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  get(uid: string): T | undefined {
    return this.#entries.get(uid);
  }

  set(uid: string, value: T): void {
    this.#entries.delete(uid);
    this.#entries.set(uid, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(uid: string): void {
    this.#entries.delete(uid);
  }
}
