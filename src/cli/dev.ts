/** `binnacle dev` */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { needsDeclarations } from "#runtime/type-checker";
import { type EmbeddedCluster, startEmbeddedCluster } from "../cluster/index.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { Pause } from "../controller/pause.ts";
import type { Manager } from "../manager/manager.ts";
import type { ServiceAccount } from "../module/rbac-manifests.ts";
import { createLog, type LogLevel } from "../observe/log.ts";
import { isFree } from "../testing/control-plane/ports.ts";
import { messageOf } from "../platform/error-message.ts";
import { type Command, command, type Host } from "./command.ts";
import { devKeys, KEYS } from "./dev-keys.ts";
import { offerTypes } from "./editor-types.ts";
import { operatorName } from "./operator-name.ts";
import type { Option, ValuesOf } from "../settings/option.ts";
import { runControllers } from "./run-controllers.ts";
import { type RunSettings, runOptions } from "../settings/run-options.ts";
import { sdkFolder } from "./sdk-folder.ts";
import { longestEnd, stopSignal } from "./signals.ts";
import { type StateFolder, takeStateFolder } from "./state-folder.ts";
import { takeOver, takeOverOption, warnOfCopy } from "./take-over.ts";
import { TerminalKeys } from "./terminal-keys.ts";
import { TypeWatch } from "./type-watch.ts";
import { UsageError, UserError } from "./usage-error.ts";

/** The folder in the working directory. */
const STATE = ".binnacle";

/** The defaults of `dev`; an address whose port is in use is replaced by one with a free port. */
const defaults: Readonly<Record<string, unknown>> = {
  "health-probe-bind-address": "127.0.0.1:8081",
  "metrics-bind-address": "127.0.0.1:8080",
  "webhook-bind-address": "127.0.0.1:9443",
  "debug-bind-address": "127.0.0.1:8082",
  "install-crds": true,
  "register-webhooks": true,
  "log-format": "pretty",
  watch: true,
  "grace-period": "5s",
  "stall-timeout": "0s", // who debugs a module stops at breakpoints
};

const described: Readonly<Record<string, string>> = {
  kubeconfig: "Path of a kubeconfig: work on its cluster instead of the embedded one",
  context: "Context of a kubeconfig: work on its cluster instead of the embedded one",
};

const ownOptions = [
  takeOverOption,
  {
    name: "data",
    type: "boolean",
    default: false,
    describe: `Keep the objects over a restart, in ${STATE}/data`,
  },
  {
    name: "as-admin",
    type: "boolean",
    default: false,
    describe:
      "Let modules do everything on the embedded cluster, instead of exactly what `manifests rbac` prints for them",
  },
] as const;

const options: readonly Option[] = [
  // A developer's replica is the only one; the replicas in a shared cluster would prevent its work.
  ...runOptions
    .filter(({ name }) => name !== "shards" && !name.startsWith("leader-elect"))
    .map((option) => ({
      ...option,
      ...(option.name in defaults && { default: defaults[option.name] }),
      ...(option.name in described && { describe: described[option.name]! }),
    })),
  ...ownOptions,
];

/** The account of the modules on the embedded cluster, which nothing else shares. */
const ACCOUNT: ServiceAccount = { namespace: "binnacle-system", name: "binnacle" };

export const devCommand: Command = command({
  options,
  async run(flags, host) {
    const values = flags as unknown as RunSettings & ValuesOf<typeof ownOptions>;
    const began = performance.now();
    const format = values["log-format"] ?? "pretty";
    const log = createLog({ level: values["log-level"], format });
    const signalled = stopSignal(log, { within: longestEnd(values) });
    const sdk = await sdkFolder(host);
    await using types =
      sdk === undefined && needsDeclarations ? undefined : new TypeWatch(values.controllers, { sdk, log });
    const pause = new Pause();
    using atTheEnd = new DisposableStack();
    const shared = { host, log, format, signalled, pause, development: true, onLook: () => types?.look() };
    /** @returns the line about the keys; `undefined` when nobody can press them. */
    const listenToKeys = (manager: Manager): string | undefined => {
      const press = devKeys({
        controllers: () => manager.modules.controllers,
        pause,
        log,
        say: (text) => host.out(`${text}\n`),
        quit: () => process.kill(process.pid, "SIGINT"),
      });
      return atTheEnd.use(TerminalKeys.open(press)) && KEYS;
    };
    const editors = () => {
      if (sdk !== undefined) offerTypes({ state: STATE, controllers: values.controllers, sdk, log });
    };
    const reachable = { ...values, ...(await freeAddresses(values)) };
    const { "as-admin": isAdmin, "take-over": takesOver } = values;
    if (values.kubeconfig !== undefined || values.context !== undefined) {
      if (isAdmin) {
        throw new UsageError(
          "--as-admin is for the embedded cluster: on another one modules may do what the kubeconfig's user may",
        );
      }
      const { kubeconfig, context } = values;
      const account = deployedAs(values, host);
      return await runControllers(reachable, {
        ...shared,
        cluster: async () => {
          const cluster = await loadKubeconfig({ kubeconfig, context, env: host.env });
          if (takesOver === undefined) void warnOfCopy(cluster, { account, log });
          return cluster;
        },
        ...(takesOver !== undefined && {
          election: (cluster, modules) => takeOver(takesOver, { cluster, modules, account, log }),
        }),
        mayListenElsewhere: values["webhook-bind-address"] === defaults["webhook-bind-address"],
        onStarted: (manager) => {
          const keys = listenToKeys(manager);
          if (keys !== undefined) host.out(`Keys: ${keys}\n`);
          editors();
        },
      });
    }
    if (takesOver !== undefined)
      throw new UsageError("--take-over is for a cluster that others use too: name it with --context or --kubeconfig");
    using state = takeStateFolder(STATE);
    await using cluster = await start(state, { keeps: values.data, level: values["log-level"] });
    state.writeKubeconfig(cluster.kubeconfig, Number(new URL(cluster.url).port));
    return await runControllers(reachable, {
      ...shared,
      cluster: () => Promise.resolve(cluster.as(isAdmin ? undefined : ACCOUNT)),
      access: isAdmin ? undefined : { account: ACCOUNT, administrator: cluster.as(), makes: true },
      onStarted: (manager) => {
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        const keys = listenToKeys(manager);
        host.out(welcome({ state, cluster, manager, seconds, keys, folders: values.controllers }));
        editors();
      },
    });
  },
});

/** Returns the account that `manifests deploy` would use for these modules; `undefined` when it is unknown. */
function deployedAs({ controllers }: Pick<RunSettings, "controllers">, host: Host): ServiceAccount | undefined {
  const name = operatorName({ controllers }, host);
  return name === undefined ? undefined : { namespace: `${name}-system`, name };
}

async function start(
  state: StateFolder,
  { keeps, level }: { readonly keeps: boolean; readonly level: LogLevel },
): Promise<EmbeddedCluster> {
  const data = keeps ? state.data : undefined;
  // The log is for the user's controllers; those of the cluster retry whatever fails.
  const log = level === "debug" ? createLog({ level, format: "pretty" }) : undefined;
  try {
    const port = state.port > 0 && (await isFree(state.port)) ? state.port : 0;
    return await startEmbeddedCluster({ data, port, log });
  } catch (error) {
    const why = messageOf(error);
    const what = data === undefined ? "" : ` with data in ${data}`;
    const wayOut = data === undefined ? "" : `. Remove ${data} to begin with an empty one`;
    throw new UserError(`Cannot start the embedded cluster${what}: ${why}${wayOut}`);
  }
}

/**
 * Returns the addresses of `run` if they are free, otherwise others, because a second cluster in another folder must be
 * able to start.
 */
async function freeAddresses(values: RunSettings): Promise<Partial<RunSettings>> {
  const names = [
    "health-probe-bind-address",
    "metrics-bind-address",
    "webhook-bind-address",
    "debug-bind-address",
  ] as const;
  const definitions = names.map(async (name) => {
    const address = values[name];
    const isDefault = address === defaults[name];
    const port = Number(address.split(":").at(-1));
    return [name, isDefault && !(await isFree(port)) ? "127.0.0.1:0" : address] as const;
  });
  return Object.fromEntries(await Promise.all(definitions));
}

interface Welcome {
  readonly state: StateFolder;
  readonly cluster: EmbeddedCluster;
  readonly manager: Manager;
  readonly seconds: string;
  /** The line about the keys; `undefined` when nobody can press them. */
  readonly keys: string | undefined;
  readonly folders: readonly string[];
}

/** Prints the first information for a newcomer: how to reach the cluster, where files are, and what to do next. */
function welcome({ state, cluster, manager, seconds, keys, folders }: Welcome): string {
  const [health, metrics] = [manager.address("health-probe"), manager.address("metrics")];
  const addresses = [
    cluster.url,
    ...(health === undefined ? [] : [`http://${health}/readyz?verbose`]),
    ...(metrics === undefined ? [] : [`http://${metrics}/metrics`]),
  ];
  const debug = manager.address("debug");
  const dashboard = debug === undefined ? "" : `\n  dashboard  http://${debug}/#token=${manager.debugToken!}`;
  return `
The cluster runs after ${seconds} s. Ctrl-C stops it.
  kubectl    export KUBECONFIG=$PWD/${state.kubeconfig}
  addresses  ${addresses.join("  ")}${dashboard}
  try        ${whatToTry(folders)}${keys === undefined ? "" : `\n  keys       ${keys}`}

`;
}

/** Suggests a sample beside the modules, if there is one. */
function whatToTry(folders: readonly string[]): string {
  for (const folder of folders) {
    const sample = readdirSync(folder)
      .sort()
      .find((name) => /\.ya?ml$/.test(name));
    if (sample !== undefined)
      return `kubectl apply -f ${relative(process.cwd(), join(folder, sample))}; kubectl get all`;
  }
  return "kubectl get customresourcedefinitions; kubectl create deployment web --image nginx; kubectl get pods";
}
