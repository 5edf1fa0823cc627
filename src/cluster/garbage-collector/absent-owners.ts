/** Remembers owners that the server does not have, so that a thousand dependents of one owner cause one request. */
import { idOf, type Identity } from "./node.ts";

const CAPACITY = 500;

/** Remembers the most recent ones. An entry never becomes wrong, because a deleted object never comes back with the same UID. */
export class AbsentOwners {
  readonly #ids = new Set<string>();

  add(owner: Identity): void {
    const id = idOf(owner);
    this.#ids.delete(id);
    this.#ids.add(id);
    if (this.#ids.size > CAPACITY) for (const oldest of this.#ids) return void this.#ids.delete(oldest);
  }

  has(owner: Identity): boolean {
    return this.#ids.has(idOf(owner));
  }
}
