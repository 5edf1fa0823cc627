/** What is measured of modules. */
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { Metrics } from "../observe/metrics.ts";

/** Shows each module, its state and its errors in the metrics. */
export function readModules(metrics: Metrics, modules: ModuleRegistry): void {
  metrics.modulesFrom(() => modules.statuses().map(({ name, file, state }) => ({ module: name, file, state })));
  metrics.add({
    name: "binnacle_module_errors_total",
    help: "Failures of a module's code outside of runs",
    type: "counter",
    read: () => modules.statuses().map(({ name, errors }) => ({ labels: { module: name }, value: errors })),
  });
}
