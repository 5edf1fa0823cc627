/** Makes the workers of a controller from its author's options. */
import type { WriteGate } from "../client/write-gate.ts";
import type { Log } from "../observe/log.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { controllerName } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import type { FailureReports } from "./failure-reports.ts";
import { runLimit } from "./run-limit.ts";
import type { Runtime } from "./runtime.ts";
import { type BudgetOptions, type RunExecutor, Workers } from "./workers.ts";

export interface ControllerWorkersParts {
  readonly module: string;
  readonly queue: WorkQueue;
  readonly executor: RunExecutor;
  readonly reports: FailureReports;
  readonly gate: WriteGate;
  readonly log: Log;
  /** Used where the process has an error budget. */
  readonly budget: BudgetOptions;
}

export function controllerWorkers(
  controller: AnyController,
  runtime: Runtime,
  { module, queue, executor, reports, gate, log, budget }: ControllerWorkersParts,
): Workers {
  const { clock, metrics, turns, settings, logsRuns = false, reportsFailures = true } = runtime;
  const { retry, timeout } = controller;
  const concurrency = controller.concurrency ?? settings.concurrency;
  const name = controllerName(controller);
  return new Workers({
    about: { module, controller: name },
    budget: settings["error-budget"] ? budget : undefined,
    queue,
    concurrency,
    clock,
    log,
    metrics: metrics.controller(name, concurrency),
    tellRunsAt: logsRuns ? "info" : "debug",
    retryLimit: retry?.limit ?? Infinity,
    limit: runLimit(timeout, clock),
    executor,
    onEnded: reportsFailures ? (run, outcome) => reports.ended(run, outcome) : () => {},
    turns,
    mayWrite: () => gate.refused === undefined,
    abortRefused: () => runtime.transport.abortRefused(),
    onParked: (run, reason) => reports.parked(run, reason),
  });
}
