/** The thread that notices when the event loop is blocked. It has no event loop itself: it sleeps and checks. */
import { LoopMarks, PLACE } from "../platform/loop-marks.ts";
import type { StallOrder } from "./stall-order.ts";

addEventListener("message", ({ data }: MessageEvent<StallOrder>) => void watch(data));

/** How many naps without a beat make a stall that is reported. */
const NAPS = 4;
/** Naps are planned this much shorter, because each ends a little late. */
const EARLY = 0.98;

/**
 * Watches the beats of the event loop; a beat wakes the thread at once, so that it knows when the loop was last alive.
 * It counts naps without a beat instead of time: a process that was stopped, or had no CPU, has not stalled, and this
 * thread has not run either.
 */
async function watch({ memory, warnAfter, endAfter, format }: StallOrder): Promise<void> {
  const nap = ((warnAfter || endAfter) * EARLY) / NAPS;
  const marks = new LoopMarks(memory);
  const { control } = marks;
  // The log is loaded when it is needed, because most processes never stall.
  const tell = async (message: string, fields: object): Promise<void> => {
    const { createLog } = await import("../observe/log.ts");
    createLog({ level: "error", format }).error(message, fields);
  };
  let last = Atomics.load(control, PLACE.beat);
  let stalled = 0;
  let isReported = false;
  /**
   * The mark of who has the event loop, for how many milliseconds it has been so, and the mark that was reported last.
   */
  let owner = 0;
  let owned = 0;
  let reportedOwner = 0;
  for (;;) {
    const woken = Atomics.wait(control, PLACE.beat, last, nap);
    if (Atomics.load(control, PLACE.stop) === 1) return;
    if (woken !== "timed-out") {
      last = Atomics.load(control, PLACE.beat);
      stalled = 0;
      isReported = false;
      owner = reportedOwner = 0;
      continue;
    }
    stalled += nap;
    const now = ownerIn(marks);
    owned = now === owner ? owned + nap : 0;
    owner = now;
    if (endAfter > 0 && stalled >= endAfter * EARLY) {
      await tell("The event loop is blocked for too long: the process ends", about(marks, stalled));
      const { exitNow } = await import("#runtime/exit-now");
      await exitNow(1);
    }
    if (warnAfter <= 0 || stalled < warnAfter * EARLY) continue;
    // A loop that is slow at first may recover and then be blocked by another module, without a beat in between.
    const isAnother = owner !== 0 && owner !== reportedOwner && owned >= warnAfter * EARLY;
    if (isReported && !isAnother) continue;
    isReported = true;
    Atomics.store(control, PLACE.told, 1);
    reportedOwner = owner;
    const fields = about(marks, stalled);
    await tell("The event loop is blocked", fields);
    postMessage(fields); // the main thread reads this when its loop continues
  }
}

/** The mark of the run, or else of the module, whose code has not returned; 0 when there is none. */
function ownerIn({ control }: LoopMarks): number {
  return control[PLACE.run]! || control[PLACE.module]!;
}

/**
 * Describes who blocks the event loop. If nobody is marked, it names the last one that continued, and the unfinished
 * runs and loads.
 */
function about(marks: LoopMarks, ms: number): object {
  const { control } = marks;
  const seconds = Math.round(ms / EARLY) / 1_000;
  const now = marks.text(ownerIn(marks));
  if (now !== undefined) return { seconds, ...fieldsOf(now) };
  const likely = marks.text(control[PLACE.last]!);
  const underWay = [...marks.texts()].map(fieldsOf).filter((fields) => "key" in fields || "loading" in fields);
  return { seconds, ...(likely !== undefined && { likely: fieldsOf(likely) }), underWay };
}

/** The text may change while it is read. */
function fieldsOf(text: string): object {
  try {
    return JSON.parse(`{${text}}`) as object;
  } catch {
    return {};
  }
}
