/** The sensitive values that runs of this process have seen lately: nothing that is recorded repeats one. */
import { withoutSecrets } from "../observe/known-secrets.ts";
import { INSTEAD_OF_TEXT, SecretSearch, SHORTEST_SECRET } from "../observe/secret-search.ts";
import type { Resource } from "../resource/handle.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";

/** The most characters of all values that are searched for, in each of two generations. */
const MOST_CHARACTERS = 262_144;
/** A longer text is recorded in part only, and what is searched for begins in its beginning. */
const LONGEST_TEXT = 65_536;

/**
 * **Guarantees.** A value is searched for from when it is added until values of {@link MOST_CHARACTERS} characters were
 * added after it. With more values than that in one object, every text is left out as a whole.
 */
export class SeenSecrets {
  #objects = new WeakSet<object>();
  #newer = new Generation();
  #older = new Generation();

  /** Adds the sensitive values of an object, or of a patch of it. */
  add(resource: Resource, content: unknown): void {
    const texts = sensitiveTexts(resource);
    if (texts === undefined || content === undefined) return;
    if (typeof content === "object" && content !== null) {
      if (this.#objects.has(content)) return;
      this.#objects.add(content);
    }
    for (const text of texts(content)) this.#add(text);
  }

  clean(text: string): string {
    if (text.length < SHORTEST_SECRET) return text;
    const isCut = text.length > LONGEST_TEXT;
    const searched = isCut ? text.slice(0, LONGEST_TEXT) : text;
    return withoutSecrets(this.#older.clean(this.#newer.clean(searched, isCut), isCut), isCut);
  }

  #add(text: string): void {
    if (text.length < SHORTEST_SECRET || this.#newer.has(text)) return;
    if (!this.#newer.isRoomFor(text)) {
      this.#older = this.#newer;
      this.#newer = new Generation();
      this.#objects = new WeakSet();
    }
    this.#newer.add(text);
  }
}

class Generation {
  readonly #values = new Set<string>();
  readonly #search = new SecretSearch();
  #characters = 0;

  has(text: string): boolean {
    return this.#values.has(text);
  }

  isRoomFor(text: string): boolean {
    return this.#characters === 0 || this.#characters + text.length <= MOST_CHARACTERS;
  }

  add(text: string): void {
    this.#values.add(text);
    this.#characters += text.length;
    if (text.length <= MOST_CHARACTERS) this.#search.add(text);
  }

  clean(text: string, isCut: boolean): string {
    if (this.#characters === 0) return text;
    return this.#characters > MOST_CHARACTERS ? INSTEAD_OF_TEXT : this.#search.clean(text, isCut);
  }
}
