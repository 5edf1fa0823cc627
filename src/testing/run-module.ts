/** Runs definitions against a test's cluster, in this process. */
import { declarationsOf } from "../controller/declarations.ts";
import { Manager } from "../manager/manager.ts";
import type { Definition } from "../module/definition.ts";
import { collectDefinitions, definitionsOf, type ModuleDefinitions } from "../module/module-definitions.ts";
import { createLog, type LogLevel } from "../observe/log.ts";
import { writeToStandardError } from "../observe/standard-error.ts";
import { type Clock, sleep, systemClock } from "../platform/clock.ts";
import { definitionOf } from "../resource/definition.ts";
import { groupKind, type Resource } from "../resource/handle.ts";
import type { TestCluster } from "./start-cluster.ts";

export interface RunModuleOptions {
  /** Namespaces that controllers without their own see; empty means all. @default [] */
  readonly namespaces?: readonly string[] | undefined;
  /** Runs in parallel for controllers that do not say. @default 4 */
  readonly concurrency?: number | undefined;
  /** @default the cluster's */
  readonly clock?: Clock | undefined;
  /** The least of what is shown on standard error; everything is in `log`. @default "warn" */
  readonly show?: LogLevel | "none" | undefined;
}

/** One line of a module's log. */
export interface LogLine {
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface RunningModule extends AsyncDisposable {
  /** From `info` up, the SDK's own lines included. */
  readonly log: readonly LogLine[];
  /** Waits until no object has been queued or running for so many milliseconds. @default 50 */
  idle(quiet?: number): Promise<void>;
  /** Lets runs under way finish, and ends. */
  stop(): Promise<void>;
}

/** Milliseconds that runs get at the end of a test. */
const GRACE_MS = 2_000;
/** For the first lists. */
const SYNCED_WITHIN_MS = 15_000;

const RANK: Readonly<Record<string, number>> = { debug: 0, info: 1, warn: 2, error: 3, none: 4 };

/**
 * Applies the definitions' CustomResourceDefinitions, starts their controllers, and waits until they have synced.
 *
 * Cached objects are frozen, and a call that no declaration covers warns with the line to add.
 *
 * @param module a definition, several, or all that a module exports: `import * as guestbook from "./guestbook.ts"`.
 * @throws TypeError when there is no definition, Error when a controller has not synced within 15 s.
 */
export async function runModule(
  module: Definition | Resource | readonly (Definition | Resource)[] | object,
  cluster: TestCluster,
  options: RunModuleOptions = {},
): Promise<RunningModule> {
  const definitions = definitionsIn(module);
  const { show = "warn" } = options;
  const log: LogLine[] = [];
  const shown = createLog({ level: show === "none" ? "error" : show, format: "pretty", write: writeToStandardError });
  const manager = new Manager({
    cluster: cluster.config,
    log: createLog({
      level: "info",
      format: "json",
      write: (text) => {
        const line = JSON.parse(text) as LogLine;
        log.push(line);
        const { ts: _, level, msg, ...fields } = line;
        if (RANK[level]! >= RANK[show]!) shown[level](msg, fields);
      },
    }),
    clock: options.clock ?? cluster.clock,
    connectionClock: systemClock,
    healthAddress: "0",
    metricsAddress: "0",
    namespaces: options.namespaces,
    concurrency: options.concurrency,
    installCrds: true,
    retryInstalling: false,
    development: true,
    isolate: false,
    grace: GRACE_MS,
  });
  const registration = cluster.beforeStop(() => manager.stop());
  const stop = async (): Promise<void> => {
    registration[Symbol.dispose]();
    await manager.stop();
  };
  try {
    await manager.add({ name: "test", file: "test", definitions, invoke: (fn) => fn(), dispose: () => {} });
    manager.loaded();
    await synced(manager);
  } catch (error) {
    await stop();
    throw error;
  }
  return { log, idle: (quiet) => idle(manager, quiet), stop, [Symbol.asyncDispose]: stop };
}

/** With the kinds of its own that a controller names: a test may import the controller alone. */
function definitionsIn(module: object): ModuleDefinitions {
  const found = collectDefinitions([module]);
  const isEmpty = found.controllers.length + found.resources.length + found.plugins.length === 0;
  const { controllers, resources, plugins } = isEmpty
    ? definitionsOf(module as Readonly<Record<string, unknown>>)
    : found;
  const named = controllers.flatMap((controller) => {
    const { for: primary, owns, watches, reads } = declarationsOf(controller);
    return [...(primary === undefined ? [] : [primary]), ...owns, ...watches, ...reads].map(({ resource }) => resource);
  });
  const own = named.filter((resource) => definitionOf(resource) !== undefined);
  const byKind = new Map([...own, ...resources].map((resource) => [groupKind(resource), resource]));
  return { controllers, plugins, resources: [...byKind.values()] };
}

async function synced({ modules }: Manager): Promise<void> {
  const deadline = performance.now() + SYNCED_WITHIN_MS;
  while (!modules.controllers.every(({ hasSynced }) => hasSynced)) {
    if (performance.now() > deadline) {
      const waiting = modules.controllers.filter(({ hasSynced }) => !hasSynced);
      const told = waiting.map(({ name, state }) => `${name} is ${JSON.stringify(state)}`).join(", ");
      throw new Error(`Cannot run the module: not synced within ${SYNCED_WITHIN_MS / 1_000} s: ${told}`);
    }
    await sleep(1);
  }
}

async function idle({ modules }: Manager, quiet = 50): Promise<void> {
  let since = performance.now();
  while (performance.now() - since < quiet) {
    const isBusy = modules.controllers.some(({ queue }) => queue.depth > 0 || queue.processing > 0);
    if (isBusy) since = performance.now();
    await sleep(2);
  }
}
