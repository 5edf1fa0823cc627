/** The sensitive values that runs of this process have seen lately: nothing that is recorded repeats one. */
import { withoutSecrets } from "../observe/known-secrets.ts";
import { INSTEAD_OF_TEXT, SecretSearch, SHORTEST_SECRET } from "../observe/secret-search.ts";
import type { Resource } from "../resource/handle.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import { cutText } from "./bounded.ts";

/** The most values, and characters of them, that are searched for in each of two generations. */
const MOST_VALUES = 1_000;
const MOST_CHARACTERS = 1_048_576;
/** The most characters of a text that are searched, and therefore of a value that is searched for. */
const LONGEST_TEXT = 65_536;

/**
 * **Guarantees.** A value is searched for until at least as many others were added as one generation holds. While two
 * generations do not hold the values of one object, every text is left out as a whole.
 */
export class SeenSecrets {
  #objects = new WeakSet<object>();
  #newer = new Generation();
  #older = new Generation();
  #isOverfull = false;

  /** Adds the sensitive values of an object, or of a patch of it. */
  add(resource: Resource, content: unknown): void {
    const texts = sensitiveTexts(resource);
    if (texts === undefined || content === undefined) return;
    if (typeof content === "object" && content !== null) {
      if (this.#objects.has(content)) return;
      this.#objects.add(content);
    }
    let generations = 0;
    for (const text of texts(content)) if (this.#add(cutText(text, LONGEST_TEXT))) generations++;
    if (generations > 0) this.#isOverfull = generations > 1;
  }

  clean(text: string): string {
    if (text.length < SHORTEST_SECRET) return text;
    if (this.#isOverfull) return INSTEAD_OF_TEXT;
    const isCut = text.length > LONGEST_TEXT;
    const searched = isCut ? text.slice(0, LONGEST_TEXT) : text;
    return withoutSecrets(this.#older.clean(this.#newer.clean(searched, isCut), isCut), isCut);
  }

  /** @returns whether a new generation has begun. */
  #add(text: string): boolean {
    if (text.length < SHORTEST_SECRET || this.#newer.has(text)) return false;
    const isFull = !this.#newer.hasRoomFor(text);
    if (isFull) {
      this.#older = this.#newer;
      this.#newer = new Generation();
      this.#objects = new WeakSet();
    }
    this.#newer.add(text);
    return isFull;
  }
}

class Generation {
  readonly #values = new Set<string>();
  readonly #search = new SecretSearch();
  #characters = 0;

  has(text: string): boolean {
    return this.#values.has(text);
  }

  hasRoomFor(text: string): boolean {
    return this.#values.size < MOST_VALUES && this.#characters + text.length <= MOST_CHARACTERS;
  }

  add(text: string): void {
    this.#values.add(text);
    this.#search.add(text);
    this.#characters += text.length;
  }

  clean(text: string, isCut: boolean): string {
    return this.#values.size === 0 ? text : this.#search.clean(text, isCut);
  }
}
