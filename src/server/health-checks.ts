/** Named checks, added and removed while the process runs. */

/** What is told of something that is not well, or of its state. */
export interface Told {
  /** Of our own words alone, without a name or a text of anybody else: everybody may read it. */
  readonly cause: string;
  /** For those on this machine. */
  readonly text: string;
}

/**
 * @returns `undefined` when all is well, else the reason. Throwing counts as a reason too. A reason without a cause is
 * withheld from all who are not on this machine.
 */
export type HealthCheck = () => string | Told | undefined | Promise<string | Told | undefined>;

/** @returns `undefined` when all is well, else what stands beside the name, such as `waiting: the CRD is absent`. */
export type HealthNote = () => string | Told | undefined;

/** The checks behind one of `/healthz`, `/livez` and `/readyz`. */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #notes = new Map<string, HealthNote>();

  /** @throws Error when there is a check or note of that name. */
  add(name: string, check: HealthCheck): Disposable {
    return this.#put(this.#checks, { name, value: check });
  }

  /**
   * Lists something in `?verbose` without failing.
   *
   * @throws Error when there is a check or note of that name.
   */
  note(name: string, supplier: HealthNote): Disposable {
    return this.#put(this.#notes, { name, value: supplier });
  }

  /** Sorted by name. */
  checks(): (readonly [string, HealthCheck])[] {
    return sorted(this.#checks);
  }

  /** Sorted by name. */
  notes(): (readonly [string, HealthNote])[] {
    return sorted(this.#notes);
  }

  #put<T>(map: Map<string, T>, entry: { name: string; value: T }): Disposable {
    const { name, value } = entry;
    if (name === "" || this.#checks.has(name) || this.#notes.has(name)) {
      throw new Error(
        `Cannot add the check ${JSON.stringify(name)}: ${name === "" ? "a name is needed" : "it is there"}`,
      );
    }
    map.set(name, value);
    return {
      [Symbol.dispose]: () => {
        if (map.get(name) === value) map.delete(name);
      },
    };
  }
}

function sorted<T>(map: ReadonlyMap<string, T>): (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
