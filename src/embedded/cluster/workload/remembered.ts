/** What a controller remembers of objects beside their status: little, and not for ever. */

/** Forgets the oldest entries where there are more than `limit`: of objects that are gone nobody says so. */
export class Remembered<T> {
  readonly #limit: number;
  readonly #entries = new Map<string, T>();

  /** @param limit of entries. @default 10_000 */
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
