/** The thread that notices when the event loop is blocked. It has no event loop itself: it sleeps and checks. */
import { LoopMarks, PLACE } from "../platform/loop-marks.ts";
import type { StallOrder } from "./stall-order.ts";

addEventListener("message", ({ data }: MessageEvent<StallOrder>) => void watch(data));

/**
 * It counts the sleeps without a beat instead of the time: a process that was stopped, or got no CPU, has not
 * stalled, and then this thread has not run either.
 */
async function watch({ memory, beatEvery, warnAfter, endAfter, format }: StallOrder): Promise<void> {
  const nap = beatEvery / 2;
  const marks = new LoopMarks(memory);
  const { control } = marks;
  // The log is loaded when it is needed, because most processes never stall.
  const tell = async (message: string, fields: object): Promise<void> => {
    const { createLog } = await import("../observe/log.ts");
    createLog({ level: "error", format }).error(message, fields);
  };
  let last = -1;
  let stalled = 0;
  let told = false;
  while (Atomics.wait(control, PLACE.stop, 0, nap) === "timed-out") {
    const beat = Atomics.load(control, PLACE.beat);
    if (beat !== last) {
      last = beat;
      stalled = 0;
      told = false;
      continue;
    }
    stalled += nap;
    // The loop may have stalled only just before the next beat was due.
    const atLeast = stalled - beatEvery;
    if (endAfter > 0 && atLeast >= endAfter) {
      await tell("The event loop is blocked for too long: the process ends", about(marks, atLeast));
      const { exitNow } = await import("../platform/exit-now.ts");
      await exitNow(1);
    }
    if (told || warnAfter <= 0 || atLeast < warnAfter) continue;
    told = true;
    const fields = about(marks, atLeast);
    await tell("The event loop is blocked", fields);
    postMessage(fields); // the main thread reads this when its loop continues
  }
}

/**
 * Describes who blocks the event loop. If nobody is marked, it names who continued last, and whose runs and loads
 * have not ended.
 */
function about(marks: LoopMarks, ms: number): object {
  const { control } = marks;
  const seconds = ms / 1_000;
  const now = marks.text(control[PLACE.run] || control[PLACE.module]!);
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
