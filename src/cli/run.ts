/** `binnacle run` */
import { findModules, loadAll } from "../loader/load-all.ts";
import { loadKubeconfig } from "../kube/kubeconfig.ts";
import type { RateLimit } from "../kube/request-rate.ts";
import { Manager } from "../manager/manager.ts";
import { createLog } from "../observe/log.ts";
import { type Command, command } from "./command.ts";
import { contextOption, controllersOption, kubeconfigOption, namespaceOption } from "./shared-options.ts";
import { whenSignalled } from "./signals.ts";
import { startModules } from "./start-modules.ts";
import { UsageError, UserError } from "./usage-error.ts";

const options = [
  controllersOption,
  kubeconfigOption,
  contextOption,
  namespaceOption,
  {
    name: "health-probe-bind-address",
    type: "string",
    default: ":8081",
    describe: "Address of /healthz, /livez, /readyz; 0 for none",
  },
  { name: "metrics-bind-address", type: "string", default: ":8080", describe: "Address of /metrics; 0 for none" },
  { name: "webhook-bind-address", type: "string", default: "0", describe: "Address of webhooks: only 0, none" },
  {
    name: "install-crds",
    type: "boolean",
    default: false,
    describe: "Apply the modules' CustomResourceDefinitions; refuses changes that lose data",
  },
  {
    name: "log-level",
    type: "string",
    default: "info",
    choices: ["debug", "info", "warn", "error"],
    describe: "debug, info, warn or error",
  },
  { name: "log-format", type: "string", choices: ["json", "pretty"], describe: "json or pretty; pretty on a terminal" },
  { name: "watch", type: "boolean", default: false, describe: "Reload modules when their files change" },
  { name: "grace-period", type: "duration", default: "30s", describe: "Time for runs under way to finish at the end" },
  {
    name: "concurrency",
    type: "number",
    describe: "Runs in parallel for controllers that do not say; 4 when left out",
  },
  {
    name: "kube-api-qps",
    type: "number",
    describe: "Most requests a second to the API server, watches and the Lease aside; no limit when left out",
  },
  {
    name: "kube-api-burst",
    type: "number",
    describe: "Requests at once within --kube-api-qps; twice as many when left out",
  },
  {
    name: "strict",
    type: "boolean",
    default: false,
    describe: "A module that cannot be loaded ends the process; one that waits or is unavailable fails /readyz",
  },
] as const;

export const runCommand: Command = command({
  options,
  async run(values, host) {
    if (values["webhook-bind-address"] !== "0") {
      throw new UsageError(
        `--webhook-bind-address is '${values["webhook-bind-address"]}': this version serves no webhooks, the only value is 0`,
      );
    }
    const requestRate = rateOf(values["kube-api-qps"], values["kube-api-burst"]);
    const log = createLog({
      level: values["log-level"],
      format: values["log-format"] ?? (process.stderr.isTTY ? "pretty" : "json"),
    });
    const signalled = whenSignalled((signal) =>
      log.info("Stopping: runs under way finish; signal again to exit at once", { signal }),
    );
    const found = findModules(values.controllers);
    // What a module throws while it loads is told with the module; what comes later is the running registry's.
    let report = (module: string, error: unknown): void =>
      log.error("A module failed: code outside of a run", { module, error });
    const loading = host.embedded.offered().then((offered) => {
      const load = { offered, onError: (module: string, error: unknown) => report(module, error) };
      return { load, loaded: loadAll(found, load) };
    });
    loading.catch(() => {}); // awaited below, unless something before it fails
    const cluster = await loadKubeconfig({ kubeconfig: values.kubeconfig, context: values.context, env: host.env });
    await using manager = new Manager({
      cluster,
      log,
      healthAddress: values["health-probe-bind-address"],
      metricsAddress: values["metrics-bind-address"],
      namespaces: values.namespace,
      concurrency: values.concurrency,
      requestRate,
      grace: values["grace-period"],
      strict: values.strict,
      installCrds: values["install-crds"],
      version: host.embedded.version,
    });
    report = (module, error) => manager.modules.reportError(module, error);
    await manager.start().catch((error: unknown) => {
      throw new UserError(error instanceof Error ? error.message : String(error), { cause: error });
    });
    log.info("Running", {
      version: host.embedded.version,
      server: cluster.server,
      context: cluster.context,
      modules: found.length,
    });
    const { load, loaded: modules } = await loading;
    const loaded = await Promise.race([signalled, startModules(modules, { manager, strict: values.strict })]);
    manager.loaded();
    if (values.watch && loaded !== undefined) {
      const { ModuleWatcher } = await import("../loader/module-watcher.ts");
      await using _watcher = new ModuleWatcher(values.controllers, { ...load, loaded, log, target: manager });
      await signalled;
    }
    await signalled;
    return 0;
  },
});

function rateOf(qps: number | undefined, burst: number | undefined): RateLimit | undefined {
  if (qps !== undefined) return { qps, burst };
  if (burst === undefined) return undefined;
  throw new UsageError("--kube-api-burst is given without --kube-api-qps: add it, or leave both out for no limit");
}
