/** What nobody caught is logged and counted; it never stops the process. */
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";

/** Takes over uncaught exceptions and unhandled rejections of the process, until disposed of. */
export function isolate({ log, metrics }: { log: Log; metrics: Metrics }): Disposable {
  const counts = { uncaughtException: 0, unhandledRejection: 0 };
  const taker = (kind: keyof typeof counts) => (error: unknown) => {
    counts[kind]++;
    log.error(kind === "uncaughtException" ? "Uncaught exception" : "Unhandled rejection", { error });
  };
  const onException = taker("uncaughtException");
  const onRejection = taker("unhandledRejection");
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  const metric = metrics.add({
    name: "binnacle_uncaught_errors_total",
    help: "Errors that nobody caught, by kind",
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
