/** Runs definitions against a test's cluster, in this process. */
import type { RunningController } from "../controller/controller.ts";
import { controllerName } from "../controller/declarations.ts";
import { Manager } from "../manager/manager.ts";
import type { Definition } from "../module/definition.ts";
import type { ModuleDefinitions } from "../module/module-definitions.ts";
import { createLog, type LogLevel } from "../observe/log.ts";
import { writeToStandardError } from "../observe/standard-streams.ts";
import { type Clock, sleep, systemClock } from "../platform/clock.ts";
import { groupKind, type Resource } from "../resource/handle.ts";
import { metricsApp } from "../server/metrics-app.ts";
import { seriesValue } from "./series-value.ts";
import { definitionsUnderTest, ownKinds } from "./definitions-under-test.ts";
import type { LogLine, RunningModule } from "./running-module.ts";
import type { TestCluster } from "./start-cluster.ts";

export interface RunModuleOptions {
  /** The namespaces of controllers that declare none; empty means all. @default [] */
  readonly namespaces?: readonly string[] | undefined;
  /** Parallel runs of controllers that do not declare their own number. @default 4 */
  readonly concurrency?: number | undefined;
  /** The clock. @default the cluster's */
  readonly clock?: Clock | undefined;
  /**
   * Runs the module as an administrator, who may do everything, and warns of calls that it does not declare. Otherwise
   * it runs as a service account with exactly the permissions that `binnacle manifests rbac` prints for it.
   *
   * @default `$BINNACLE_TEST_AS_ADMIN`, which `binnacle test --as-admin` sets, otherwise false
   */
  readonly asAdmin?: boolean | undefined;
  /**
   * The Lease of a leader election among the modules of this cluster that name it: one of them leads and works, the
   * others are ready to take over. The durations are a fifth of those of `binnacle run`: a leader writes for 2 s
   * after its last renewal, and others take the Lease after 3 s, by the module's clock.
   *
   * @default none: the module always works
   */
  readonly leaderElection?: string | undefined;
  /** The lowest level that appears on standard error; `log` has all lines. @default "warn" */
  readonly show?: LogLevel | "none" | undefined;
}

/** Both API servers are on this machine and reach the webhooks here. */
const LOOPBACK = "127.0.0.1";
/** How many milliseconds runs get at the end of a test. */
const GRACE_MS = 2_000;
/** The namespace of the Leases of modules under test, which every cluster has. */
const LEASE_NAMESPACE = "default";
/** kube-apiserver learns through a watch that it must call webhooks. */
const LEARNED_WITHIN_MS = 500;
const DURATIONS = { leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 400 };
/** The limit for the first lists. */
const SYNCED_WITHIN_MS = 15_000;
/** The limit for a kind that was just installed. */
const APPEARS_WITHIN_MS = 3_000;

const RANK: Readonly<Record<string, number>> = { debug: 0, info: 1, warn: 2, error: 3, none: 4 };

/**
 * Starts the definitions' controllers and waits until they have synced, the API server knows the webhooks and, with
 * `leaderElection`, a module leads. First it applies the CustomResourceDefinitions that `run --install-crds` and `dev`
 * would apply: those of kinds that modules export, but not of kinds that a controller only names. A test that defines a
 * controller itself gets the kinds that this controller names.
 *
 * Cached objects are frozen. The module runs as a service account with exactly its declared permissions: any other call
 * fails with 403, and the message has the line to add.
 *
 * @param module a definition, several, or everything that a module exports: `import * as guestbook from
 * "./guestbook.ts"`.
 * @throws TypeError when there is no definition, Error when a controller has not synced within 15 s.
 */
export async function runModule(
  module: Definition | Resource | readonly (Definition | Resource)[] | object,
  cluster: TestCluster,
  options: RunModuleOptions = {},
): Promise<RunningModule> {
  const definitions = definitionsUnderTest(module);
  const { show = "warn", asAdmin = isSet(process.env["BINNACLE_TEST_AS_ADMIN"]), leaderElection } = options;
  const log: LogLine[] = [];
  const stop = async (): Promise<void> => {
    registration[Symbol.dispose]();
    await manager.stop();
  };
  const running: RunningModule = {
    log,
    get isLeader() {
      return manager.elections?.isLeader ?? true;
    },
    metric: async (name, labels) => seriesValue((await manager.metrics.text()).body, name, labels),
    fetch: (path, init) => answered(manager, path, init),
    idle: (quiet) => idle(manager, quiet),
    stop,
    [Symbol.asyncDispose]: stop,
  };
  const own = asAdmin ? undefined : await cluster.account(running);
  const terminal = createLog({
    level: show === "none" ? "error" : show,
    format: "pretty",
    write: writeToStandardError,
  });
  const manager = new Manager({
    cluster: own?.config ?? cluster.configOf(running),
    access: own && {
      ...own.access,
      leases: leaderElection === undefined ? undefined : { namespace: LEASE_NAMESPACE, names: [leaderElection] },
    },
    election:
      leaderElection === undefined
        ? undefined
        : { ...DURATIONS, mode: "process", id: leaderElection, namespace: LEASE_NAMESPACE, release: true },
    installer: cluster.config,
    log: createLog({
      level: "info",
      format: "json",
      write: (text) => {
        const line = JSON.parse(text) as LogLine;
        log.push(line);
        const { ts: _, level, msg, ...fields } = line;
        if (RANK[level]! >= RANK[show]!) terminal[level](msg, fields);
      },
    }),
    clock: options.clock ?? cluster.clock,
    connectionClock: systemClock,
    settings: {
      namespace: options.namespaces,
      concurrency: options.concurrency,
      "install-crds": true,
      "grace-period": GRACE_MS,
    },
    webhooks: {
      address: `${LOOPBACK}:0`,
      certificates: { kind: "memory", hosts: [LOOPBACK] },
      registration: {
        reach: { host: LOOPBACK },
        mode: "apply",
        ownNamespaces: [],
        learning: 0,
        name: registrationName(),
      },
    },
    retryInstalling: false,
    development: true,
    isolate: false,
  });
  const registration = cluster.beforeStop(() => manager.stop());
  try {
    await cluster.prepare(definitions.resources);
    await manager.add({ name: "test", file: "test", definitions, invoke: (fn) => fn(), dispose: () => {} });
    manager.loaded();
    await synced(manager, definitions);
    if (cluster.server === "real" && definitions.webhooks.length > 0) await sleep(LEARNED_WITHIN_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  return running;
}

/** Several modules may run on one cluster, each with a registration of its own. */
function registrationName(): string {
  return `binnacle-test-${crypto.randomUUID().slice(0, 8)}`;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value);
}

async function synced(manager: Manager, definitions: ModuleDefinitions): Promise<void> {
  const { modules } = manager;
  const began = performance.now();
  while (!modules.controllers.every(({ hasSynced }) => hasSynced)) {
    const waited = performance.now() - began;
    if (waited > APPEARS_WITHIN_MS) refuseUnexported(modules.controllers, definitions);
    if (waited > SYNCED_WITHIN_MS) {
      const waiting = modules.controllers.filter(({ hasSynced }) => !hasSynced);
      const states = waiting.map(({ name, state }) => `${name} is ${JSON.stringify(state)}`).join(", ");
      throw new Error(`Cannot run the module: not synced within ${SYNCED_WITHIN_MS / 1_000} s: ${states}`);
    }
    await sleep(1);
  }
  await manager.webhooks.inForce(AbortSignal.timeout(SYNCED_WITHIN_MS)).catch((error: unknown) => {
    throw new Error("Cannot run the module: its webhooks are not registered", { cause: error });
  });
  while (manager.elections?.leaderIsKnown === false) {
    if (performance.now() - began > SYNCED_WITHIN_MS) {
      throw new Error(`Cannot run the module: nobody has the Lease within ${SYNCED_WITHIN_MS / 1_000} s`);
    }
    await sleep(1);
  }
}

/** Rejects controllers of kinds that no module exports. @throws Error when one waits for such a kind. */
function refuseUnexported(running: readonly RunningController[], { controllers, resources }: ModuleDefinitions): void {
  const installed = new Set(resources.map(groupKind));
  for (const controller of controllers) {
    const name = controllerName(controller);
    if (!running.some((one) => one.name === name && one.state.kind === "waiting")) continue;
    const missing = ownKinds(controller).filter((kind) => !installed.has(groupKind(kind)));
    if (missing.length === 0) continue;
    const kinds = missing.map(({ kind, apiVersion }) => `${kind} (${apiVersion})`).join(" and ");
    throw new Error(
      `Cannot run the module: controller '${name}' waits for ${kinds}, which is not installed, because no module ` +
        "exports it: export it, or install its CustomResourceDefinition before",
    );
  }
}

/** Answers like both listeners of a process, which may be one. */
async function answered(manager: Manager, path: string, init: RequestInit | undefined): Promise<Response> {
  const url = new URL(path, "http://localhost");
  const request = new Request(url, init);
  return url.pathname === "/metrics" ? metricsApp(manager.metrics).fetch(request) : manager.answer(request);
}

async function idle({ modules }: Manager, quiet = 50): Promise<void> {
  let since = performance.now();
  while (performance.now() - since < quiet) {
    const isBusy = modules.controllers.some(({ queue }) => queue.depth > 0 || queue.processing > 0);
    if (isBusy) since = performance.now();
    await sleep(2);
  }
}
