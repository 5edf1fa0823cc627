/** The keys that can be taken: higher priorities first, within a priority in the order in which they became ready. */
import { FifoQueue, type FifoItem } from "./fifo-queue.ts";

export interface ReadyItem extends FifoItem {
  priority: number;
}

/** One of this many takes serves the item that has waited longest below the highest priority, so that none starves. */
const OLDEST_EVERY = 20;
/** A bound on empty classes, because an author may give each key a priority of its own. */
const MAX_CLASSES = 32;

class PriorityClass<T extends ReadyItem> {
  readonly priority: number;
  readonly items = new FifoQueue<T>();

  constructor(priority: number) {
    this.priority = priority;
  }
}

export class ReadyItems<T extends ReadyItem> {
  /** Highest priority first; an empty class stays until there are many. */
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
    let isOnly = true;
    for (const candidate of this.#classes) {
      if (candidate.items.size === 0) continue;
      if (first === undefined) first = candidate;
      else {
        isOnly = false;
        break;
      }
    }
    if (isOnly) {
      this.#takes = 0;
      return first?.items.pop();
    }
    this.#takes = (this.#takes + 1) % OLDEST_EVERY;
    return (this.#takes === 0 ? this.#oldestBelow(first!) : first!).items.pop();
  }

  clear(): void {
    this.#classes.length = 0;
  }

  #oldestBelow(highest: PriorityClass<T>): PriorityClass<T> {
    let oldest = highest;
    let least = Infinity;
    for (const candidate of this.#classes) {
      const order = candidate === highest ? undefined : candidate.items.peek()?.order;
      if (order !== undefined && order < least) {
        oldest = candidate;
        least = order;
      }
    }
    return oldest;
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
