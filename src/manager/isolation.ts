/** Reports uncaught errors under the name of their module, or logs and counts them; they never stop the process. */
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import { tellOwner } from "../platform/error-owner.ts";
import { restoreIntrinsics } from "../platform/intrinsics.ts";

/** Handles uncaught exceptions and unhandled rejections of the process, until disposed of. */
export function isolate({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }): Disposable {
  const counts = { uncaughtException: 0, unhandledRejection: 0 };
  const taker = (kind: keyof typeof counts) => (error: unknown) => {
    restoreIntrinsics(); // the error may come from what was changed, and what follows needs it
    if (tellOwner(error)) return;
    counts[kind]++;
    log.error(kind === "uncaughtException" ? "Uncaught exception" : "Unhandled rejection", { error });
  };
  const onException = taker("uncaughtException");
  const onRejection = taker("unhandledRejection");
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  const metric = metrics.add({
    name: "binnacle_uncaught_errors_total",
    help: "Errors that nobody caught and that are no module's, by kind",
    type: "counter",
    read: () => Object.entries(counts).map(([kind, value]) => ({ labels: { kind }, value })),
  });
  return {
    [Symbol.dispose]: () => {
      metric[Symbol.dispose]();
      process.off("uncaughtException", onException);
      process.off("unhandledRejection", onRejection);
    },
  };
}
