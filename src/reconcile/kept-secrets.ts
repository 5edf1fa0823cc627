/** Remembers the objects with sensitive values that a run has read or written, so that its messages can leave these out. */
import {
  INSTEAD_OF_SECRET,
  longestFirst,
  SHORTEST_SECRET,
  spellings,
  withoutSecrets,
} from "../observe/known-secrets.ts";
import type { SensitiveTexts } from "../resource/sensitive.ts";

/** The most characters of a text that are searched and kept. */
const LONGEST = 65_536;

export interface KeptSecretsOptions {
  /** Objects that are kept; of more the oldest are forgotten. @default all */
  readonly most?: number | undefined;
}

/** Keeps references only; the values are extracted when a message must be cleaned. */
export class KeptSecrets {
  readonly #objects = new Map<unknown, SensitiveTexts>();
  readonly #most: number;
  /** The values, longest first because one may be a part of another; `undefined` until they are needed. */
  #needles: readonly string[] | undefined;

  constructor({ most = Infinity }: KeptSecretsOptions = {}) {
    this.#most = most;
  }

  add(object: unknown, texts: SensitiveTexts): void {
    if (this.#objects.has(object)) return;
    this.#objects.set(object, texts);
    this.#needles = undefined;
    if (this.#objects.size > this.#most) this.#objects.delete(this.#objects.keys().next().value);
  }

  /** Removes the values from a text, and those that the whole process knows: in plain form, in base64, and as escaped in JSON and URLs. */
  clean(text: string): string {
    if (text.length < SHORTEST_SECRET) return text;
    let clean = text.slice(0, LONGEST);
    for (const needle of this.#spelled()) {
      if (clean.includes(needle)) clean = clean.replaceAll(needle, INSTEAD_OF_SECRET);
    }
    return withoutSecrets(clean);
  }

  #spelled(): readonly string[] {
    if (this.#needles !== undefined) return this.#needles;
    const all = new Set<string>();
    for (const [object, texts] of this.#objects) {
      for (const value of texts(object)) for (const spelling of spellings(value)) all.add(spelling);
    }
    this.#needles = longestFirst(all);
    return this.#needles;
  }
}
