/** `binnacle run` */
import { findModules, loadAll } from "../loader/load-all.ts";
import type { LoadResult } from "../loader/load.ts";
import { loadKubeconfig } from "../kube/kubeconfig.ts";
import { Manager } from "../manager/manager.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { createLog } from "../observe/log.ts";
import { command } from "./command.ts";
import type { ValuesOf } from "./option.ts";
import { controllersOption, namespaceOption } from "./shared-options.ts";
import { whenSignalled } from "./signals.ts";
import { UsageError, UserError } from "./usage-error.ts";

const options = [
  controllersOption,
  {
    name: "kubeconfig",
    type: "string",
    describe: "Path of a kubeconfig; else $KUBECONFIG, the pod's service account, ~/.kube/config",
  },
  { name: "context", type: "string", describe: "Context of the kubeconfig" },
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
    name: "strict",
    type: "boolean",
    default: false,
    describe: "A module that cannot be loaded ends the process; one that waits or is unavailable fails /readyz",
  },
] as const;

type Values = ValuesOf<typeof options>;

export const runCommand = command({
  options,
  async run(values, host) {
    if (values["webhook-bind-address"] !== "0") {
      throw new UsageError(
        `--webhook-bind-address is '${values["webhook-bind-address"]}': this version serves no webhooks, the only value is 0`,
      );
    }
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
      log.error("A module's code outside of a run failed", { module, error });
    const loading = host.embedded.offered().then(async (offered) => {
      const load = { offered, onError: (module: string, error: unknown) => report(module, error) };
      return { load, loaded: await loadAll(found, load) };
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
      grace: values["grace-period"],
      strict: values.strict,
      installCrds: values["install-crds"],
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
    const { load, loaded } = await loading;
    await Promise.race([signalled, addAll(loaded, { manager, values })]);
    manager.loaded();
    if (values.watch) {
      const { ModuleWatcher } = await import("../loader/module-watcher.ts");
      await using _watcher = new ModuleWatcher(values.controllers, { ...load, loaded, log, target: manager });
      await signalled;
    } else {
      await signalled;
    }
    return 0;
  },
});

interface Adding {
  readonly manager: Manager;
  readonly values: Values;
}

async function addAll(
  loaded: readonly { readonly found: { readonly name: string; readonly file: string }; readonly result: LoadResult }[],
  { manager, values }: Adding,
): Promise<void> {
  await Promise.all(
    loaded.map(async ({ found: { name, file }, result }) => {
      const message = "broken" in result ? result.broken : await start(result.module, manager);
      if (message === undefined) return;
      if (values.strict) throw new UserError(`Cannot load ${file}: ${message}`);
      manager.modules.markBroken(name, { file, message });
    }),
  );
}

/** @returns why it does not run. */
async function start(module: LoadedModule, manager: Manager): Promise<string | undefined> {
  try {
    await manager.add(module);
    return undefined;
  } catch (error) {
    module.dispose();
    return error instanceof Error ? error.message : String(error);
  }
}
