/** Lists that come to an end. */
import { MOST_EMPTY_PAGES, MOST_PAGES, MOST_TOKEN_CHARACTERS } from "../limits.ts";
import type { ReceivedPage } from "./received-page.ts";

/** Counts the pages of one list, which are to come to an end. */
export class PageCount {
  readonly #path: string;
  #empty = 0;
  /** A token from earlier, a later one each time that the count has doubled: so every circle is found, and none is kept. */
  #earlier: string | undefined;
  count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws Error when the list does not get on. */
  add({ next, items }: Pick<ReceivedPage<unknown>, "next" | "items">): void {
    const count = ++this.count;
    this.#empty = items.length === 0 ? this.#empty + 1 : 0;
    if (next === undefined) return;
    if (next.length > MOST_TOKEN_CHARACTERS) this.#refuse(`a token has more than ${MOST_TOKEN_CHARACTERS} characters`);
    if (next === this.#earlier) this.#refuse("a page names one before it as the next");
    if (this.#empty > MOST_EMPTY_PAGES) this.#refuse(`${this.#empty} pages in a row have no items`);
    if (count >= MOST_PAGES) this.#refuse(`it has more than ${MOST_PAGES} pages`);
    if ((count & (count - 1)) === 0) this.#earlier = next;
  }

  #refuse(why: string): never {
    throw new Error(`Cannot list ${this.#path}: the list does not end: ${why}`);
  }
}
