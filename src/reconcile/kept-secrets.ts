/**
 * Remembers the objects with sensitive values that a run has read or written, so that its messages can leave these out.
 */
import { withoutSecrets } from "../observe/known-secrets.ts";
import { onOneLine } from "../observe/printable.ts";
import { INSTEAD_OF_TEXT, SecretSearch, SHORTEST_SECRET } from "../observe/secret-search.ts";
import type { SensitiveTexts } from "../resource/sensitive.ts";

/** The maximum number of characters of a text that are searched and kept. */
const LONGEST_TEXT = 65_536;
/** The maximum number of values to search for, and of their characters: beyond that a text is left out as a whole. */
const MOST_VALUES = 16_384;
const MOST_CHARACTERS = 2 ** 24;

export interface KeptSecretsOptions {
  /** The maximum number of kept objects; further ones replace the oldest. @default no maximum */
  readonly most?: number | undefined;
}

/** Keeps references only; the values are extracted when a message must be cleaned. */
export class KeptSecrets {
  readonly #objects = new Map<unknown, SensitiveTexts>();
  readonly #most: number;
  /** Objects whose values have not been added to the search yet. */
  #fresh = new Map<unknown, SensitiveTexts>();
  #search = new SecretSearch();
  #values = 0;
  #characters = 0;

  constructor({ most = Infinity }: KeptSecretsOptions = {}) {
    this.#most = most;
  }

  add(object: unknown, texts: SensitiveTexts): void {
    if (this.#objects.has(object)) return;
    this.#objects.set(object, texts);
    this.#fresh.set(object, texts);
    if (this.#objects.size <= this.#most) return;
    this.#objects.delete(this.#objects.keys().next().value);
    this.#fresh = new Map(this.#objects);
    this.#search = new SecretSearch();
    this.#values = this.#characters = 0;
  }

  /**
   * Removes the run's values, and those that the whole process knows, from a text: in plain form, in base64, and as
   * escaped in JSON and URLs.
   */
  clean(text: string): string {
    if (text.length < SHORTEST_SECRET) return text;
    if (!this.#collect()) return INSTEAD_OF_TEXT;
    const isCut = text.length > LONGEST_TEXT;
    return withoutSecrets(this.#search.clean(isCut ? text.slice(0, LONGEST_TEXT) : text, isCut), isCut);
  }

  /** @returns whether the values are within the bounds. */
  #collect(): boolean {
    for (const [object, texts] of this.#fresh) {
      for (const value of texts(object)) {
        this.#values++;
        this.#characters += value.length;
        if (this.#values > MOST_VALUES || this.#characters > MOST_CHARACTERS) return false;
        this.#search.add(value);
      }
      this.#fresh.delete(object);
    }
    return true;
  }
}

/** The longest note of an Event. */
const LONGEST_NOTE = 1_024;

/** The error's class and its message, on one line and without sensitive values that the run has read or written. */
export function failureMessage(run: { clean(text: string): string }, error: unknown): string {
  let text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name !== "Error") text = `${error.name}: ${text}`;
  // The text is cut to the limit of a note last: a truncated value would not be recognised as sensitive.
  return onOneLine(run.clean(text).slice(0, LONGEST_TEXT)).slice(0, LONGEST_NOTE);
}
