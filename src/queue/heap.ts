/** A binary heap whose elements know their index, so that any element can be removed in logarithmic time. */

export interface HeapElement {
  /** The element's index in its heap; -1 while it is in no heap. */
  place: number;
}

export class Heap<T extends HeapElement> {
  readonly #elements: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** @param before whether `a` leaves before `b`. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#elements.length;
  }

  peek(): T | undefined {
    return this.#elements[0];
  }

  /** All elements, in no particular order. */
  values(): readonly T[] {
    return this.#elements;
  }

  push(element: T): void {
    this.#elements.push(element);
    this.#up(element, this.#elements.length - 1);
  }

  pop(): T | undefined {
    const first = this.#elements[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  remove(element: T): void {
    const { place } = element;
    element.place = -1;
    const last = this.#elements.pop()!;
    if (last === element) return;
    if (place > 0 && this.#before(last, this.#elements[(place - 1) >> 1]!)) this.#up(last, place);
    else this.#down(last, place);
  }

  clear(): void {
    for (const element of this.#elements) element.place = -1;
    this.#elements.length = 0;
  }

  #up(element: T, from: number): void {
    const elements = this.#elements;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = elements[parent]!;
      if (!this.#before(element, above)) break;
      elements[place] = above;
      above.place = place;
      place = parent;
    }
    elements[place] = element;
    element.place = place;
  }

  #down(element: T, from: number): void {
    const elements = this.#elements;
    const { length } = elements;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#before(elements[child + 1]!, elements[child]!)) child++;
      const below = elements[child]!;
      if (!this.#before(below, element)) break;
      elements[place] = below;
      below.place = place;
      place = child;
    }
    elements[place] = element;
    element.place = place;
  }
}
