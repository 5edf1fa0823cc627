/** The keys that may be taken now: higher priorities first, within one by the time they became ready. */
import { Line, type LineItem } from "./line.ts";

export interface ReadyItem extends LineItem {
  priority: number;
}

/** Of so many takes one serves the lowest priority, so that it never starves. */
const LOWEST_EVERY = 20;
/** An author may give each key a priority of its own. */
const MAX_CLASSES = 32;

class PriorityClass<T extends ReadyItem> {
  readonly priority: number;
  readonly items = new Line<T>();

  constructor(priority: number) {
    this.priority = priority;
  }
}

export class ReadyItems<T extends ReadyItem> {
  /** Highest first; a class without items stays until there are many. */
  #classes: PriorityClass<T>[] = [];
  #takes = 0;

  push(item: T): void {
    this.#class(item.priority).items.push(item);
  }

  remove(item: T): void {
    this.#class(item.priority).items.remove(item);
  }

  take(): T | undefined {
    let first: PriorityClass<T> | undefined;
    let last: PriorityClass<T> | undefined;
    for (const candidate of this.#classes) {
      if (candidate.items.size === 0) continue;
      first ??= candidate;
      last = candidate;
    }
    if (first === last) {
      this.#takes = 0;
      return first?.items.pop();
    }
    this.#takes = (this.#takes + 1) % LOWEST_EVERY;
    return (this.#takes === 0 ? last : first)?.items.pop();
  }

  clear(): void {
    this.#classes.length = 0;
  }

  #class(priority: number): PriorityClass<T> {
    const classes = this.#classes;
    let at = 0;
    while (at < classes.length && classes[at]!.priority > priority) at++;
    const found = classes[at];
    if (found?.priority === priority) return found;
    const made = new PriorityClass<T>(priority);
    classes.splice(at, 0, made);
    if (classes.length > MAX_CLASSES) {
      this.#classes = classes.filter((one) => one === made || one.items.size > 0);
    }
    return made;
  }
}
