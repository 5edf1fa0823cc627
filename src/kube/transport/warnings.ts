/** Warnings of the API server, such as the use of a deprecated version. */

import { MOST_WARNING_CHARACTERS } from "../limits.ts";

/** Past this many texts the oldest may be told again. */
const MOST_TEXTS = 1_000;

/**
 * Tells each text once.
 *
 * @see https://kubernetes.io/blog/2020/09/03/warnings/
 */
export class Warnings {
  readonly #tell: (text: string) => void;
  readonly #told = new Set<string>();

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** @param header the value of a `Warning` header: one or more of `299 - "text"`. */
  see(header: string): void {
    for (const [, quoted = ""] of header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
      const text = quoted.slice(0, MOST_WARNING_CHARACTERS).replace(/\\(.)/g, "$1");
      if (this.#told.has(text)) continue;
      if (this.#told.size >= MOST_TEXTS) this.#told.clear();
      this.#told.add(text);
      this.#tell(text);
    }
  }
}
