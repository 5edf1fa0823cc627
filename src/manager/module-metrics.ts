/** The metrics of modules. */
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { Metrics } from "../observe/metrics.ts";

/** Shows each module, its state and its errors in the metrics. */
export function readModules(metrics: Metrics, modules: ModuleRegistry): void {
  metrics.modulesFrom(() => modules.statuses().map(({ name, file, state }) => ({ module: name, file, state })));
  metrics.add({
    name: "binnacle_module_draining_objects",
    help: "Number of objects with finalizers of a module whose file is gone",
    read: () =>
      modules
        .statuses()
        .flatMap(({ name, left }) => (left === undefined ? [] : [{ labels: { module: name }, value: left }])),
  });
  metrics.add({
    name: "binnacle_module_reloads_total",
    help: "New versions of a module while the process runs: those that took its place, and those that could not",
    type: "counter",
    read: () =>
      modules.statuses().flatMap(({ name: module, reloads: { succeeded, failed } }) => [
        { labels: { module, result: "success" }, value: succeeded },
        { labels: { module, result: "error" }, value: failed },
      ]),
  });
  metrics.add({
    name: "binnacle_module_errors_total",
    help: "Failures of a module's code outside of runs",
    type: "counter",
    read: () => modules.statuses().map(({ name, errors }) => ({ labels: { module: name }, value: errors })),
  });
}
