/** The metrics of modules. */
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { ModuleStatus } from "../module/module-status.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Labels } from "../observe/series.ts";

/** Adds each module, its state and its errors. */
export function addModuleMetrics(metrics: Metrics, modules: Pick<ModuleRegistry, "statuses">): void {
  type Samples = readonly { readonly labels: Labels; readonly value: number }[];
  const add = (name: string, help: string, samples: (status: ModuleStatus) => Samples): void => {
    const type = name.endsWith("_total") ? "counter" : "gauge";
    metrics.add({ name, help, type, read: () => modules.statuses().flatMap(samples) });
  };
  add("binnacle_module_info", "The loaded modules and their files", ({ name: module, file }) => [
    { labels: { module, file }, value: 1 },
  ]);
  add("binnacle_module_state", "1 for the state that a module is in", ({ name: module, state }) => [
    { labels: { module, state }, value: 1 },
  ]);
  add(
    "binnacle_module_draining_objects",
    "Number of objects with finalizers of a module whose file is gone",
    ({ name: module, left }) => (left === undefined ? [] : [{ labels: { module }, value: left }]),
  );
  add(
    "binnacle_module_reloads_total",
    "New versions of a module while the process runs: those that took its place, and those that could not",
    ({ name: module, reloads }) => [
      { labels: { module, result: "success" }, value: reloads.succeeded },
      { labels: { module, result: "error" }, value: reloads.failed },
    ],
  );
  add("binnacle_module_errors_total", "Failures of a module's code outside of runs", ({ name: module, errors }) => [
    { labels: { module }, value: errors },
  ]);
}
