/** Owners that the server said are not there: a thousand dependents of one owner ask once. */
import { idOf, type Identity } from "./node.ts";

const CAPACITY = 500;

/** Remembers the last ones. An object that is gone never comes back: its UID is part of what is remembered. */
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
