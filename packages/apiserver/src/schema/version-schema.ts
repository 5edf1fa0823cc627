/** Processes objects of one version as the API server does: it prunes them, adds defaults, and validates them. */
import { errorText } from "../field-error.ts";
import { parseJson, writeJson } from "../numbers.ts";
import { customSchema } from "./custom.ts";
import { applyDefaults } from "./defaults.ts";
import { prune } from "./prune.ts";
import type { Schema } from "./schema.ts";
import { validate } from "./validate.ts";

export interface Admitted<T> {
  readonly object: T;
  /** Paths of fields that the schema does not know, which the server drops. */
  readonly pruned: readonly string[];
  /** The errors in the server's words; empty for a valid object. */
  readonly errors: readonly string[];
}

export class VersionSchema {
  readonly #schema: Schema;

  /** @param schema the structural schema of the version, as a CustomResourceDefinition has it */
  constructor(kind: string, schema: object) {
    this.#schema = customSchema({ ...schema }, { kind });
  }

  /** Returns a copy with the defaults that the server would add. */
  withDefaults<T extends object>(given: T): T {
    const object = structuredClone(given);
    applyDefaults(this.#schema, object);
    return object;
  }

  /** Returns the object that the server would store; the argument does not change. */
  admit<T extends object>(given: T): Admitted<T> {
    const object = parseJson(writeJson(given)) as T & Record<string, unknown>;
    const { unknown, error } = prune(this.#schema, object);
    if (error !== undefined) return { object, pruned: [], errors: [error] };
    applyDefaults(this.#schema, object);
    const pruned = unknown.map((text) => text.replace(/^unknown field "(.*)"$/, "$1"));
    return { object, pruned, errors: validate(this.#schema, object).map(errorText) };
  }
}
