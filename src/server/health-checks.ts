/** Named checks, which are added and removed while the process runs. */

/** Why a check fails, or the state that a note shows. */
export interface HealthReport {
  /** A text that everybody may read: words of our own, without names and texts from elsewhere. */
  readonly cause: string;
  /** The whole text, for clients on this machine. */
  readonly text: string;
}

/**
 * Returns `undefined` when all is well, otherwise the reason. An exception counts as a reason too. A reason without a
 * cause is shown only to clients on this machine.
 */
export type HealthCheck = () => string | HealthReport | undefined | Promise<string | HealthReport | undefined>;

/**
 * Returns `undefined` when all is well, otherwise the text that is shown beside the name, such as `waiting: the CRD is
 * absent`.
 */
export type HealthNote = () => string | HealthReport | undefined;

/** The checks of one of `/healthz`, `/livez` and `/readyz`. */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #notes = new Map<string, HealthNote>();

  /** Adds a check. @throws Error when a check or note with that name exists. */
  add(name: string, check: HealthCheck): Disposable {
    return this.#put(this.#checks, { name, value: check });
  }

  /**
   * Adds a line to `?verbose` that never fails.
   *
   * @throws Error when a check or note with that name exists.
   */
  note(name: string, supplier: HealthNote): Disposable {
    return this.#put(this.#notes, { name, value: supplier });
  }

  /** The checks sorted by name. */
  checks(): (readonly [string, HealthCheck])[] {
    return sorted(this.#checks);
  }

  /** The notes sorted by name. */
  notes(): (readonly [string, HealthNote])[] {
    return sorted(this.#notes);
  }

  #put<T>(map: Map<string, T>, entry: { name: string; value: T }): Disposable {
    const { name, value } = entry;
    if (name === "" || this.#checks.has(name) || this.#notes.has(name)) {
      throw new Error(
        `Cannot add the check ${JSON.stringify(name)}: ${name === "" ? "a name is needed" : "it exists already"}`,
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
