/** A run that workers have begun and that has not ended. */
import { loopMarks, markText } from "../platform/loop-marks.ts";
import type { QueueItem } from "../queue/entries.ts";
import type { AddOptions } from "../queue/work-queue.ts";
import type { Result } from "../reconcile/context.ts";
import type { KeyRun } from "../reconcile/key-run.ts";

export class ActiveRun {
  readonly item: QueueItem;
  readonly run: KeyRun;
  /** When its signal fired; `undefined` before. */
  cancelledAt: number | undefined;
  /** Whether it was cancelled for another reason than its own deadline. */
  cancelled = false;
  /** The additions of its key that wait until it ends. */
  deferred: AddOptions[] | undefined;
  /** Whether its key has been passed to another run. */
  abandoned = false;
  /** Its slot among the marks of the event loop; 0 when it has none. */
  #mark = 0;

  /** @param about the names of its module and controller, which reports name when the run blocks the event loop. */
  constructor(item: QueueItem, run: KeyRun, about: object) {
    this.item = item;
    this.run = run;
    if (loopMarks.isWatched) this.#mark = loopMarks.take(markText({ ...about, key: item.key }));
  }

  /** Begins the run. Until it waits for the first time, it has the event loop to itself. */
  begin(execute: (run: KeyRun) => Promise<void | Result>): Promise<void | Result> {
    loopMarks.enterRun(this.#mark);
    try {
      return execute(this.run);
    } finally {
      loopMarks.leaveRun();
    }
  }

  /** Frees the slot when the run has ended or is abandoned, because a run that never settles must not keep it. */
  unmark(): void {
    loopMarks.release(this.#mark);
    this.#mark = 0;
  }
}
