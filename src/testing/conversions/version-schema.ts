/** What the API server makes of an object of one version: it prunes it, fills in defaults, and validates it. */
import { errorText } from "../../embedded/apiserver/field-error.ts";
import { customSchema } from "../../embedded/apiserver/schema/custom.ts";
import { applyDefaults } from "../../embedded/apiserver/schema/defaults.ts";
import { prune } from "../../embedded/apiserver/schema/prune.ts";
import type { Schema } from "../../embedded/apiserver/schema/schema.ts";
import { validate } from "../../embedded/apiserver/schema/validate.ts";
import type { StructuralSchema } from "../../resource/schema/structural.ts";
import type { WireObject } from "../../webhook/conversion/convert-object.ts";

export interface Admitted {
  readonly object: WireObject;
  /** Paths of fields that the schema does not know, which the server drops. */
  readonly pruned: readonly string[];
  /** In the server's words; none for a valid object. */
  readonly errors: readonly string[];
}

export class VersionSchema {
  readonly #schema: Schema;

  constructor(kind: string, schema: StructuralSchema) {
    this.#schema = customSchema({ ...schema }, { kind });
  }

  /** The object as it comes off the wire and is stored; the given one is not changed. */
  admit(given: WireObject): Admitted {
    const object = JSON.parse(JSON.stringify(given)) as WireObject;
    const { unknown, error } = prune(this.#schema, object);
    if (error !== undefined) return { object, pruned: [], errors: [error] };
    applyDefaults(this.#schema, object);
    const pruned = unknown.map((text) => text.replace(/^unknown field "(.*)"$/, "$1"));
    return { object, pruned, errors: validate(this.#schema, object).map(errorText) };
  }
}
