/** Runs the controllers of a cluster in a manager of their own. */
import type { AnyController } from "../controller/definition.ts";
import { declarationsOf } from "../controller/declarations.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { Manager } from "../manager/manager.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog, type Log } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { groupKind } from "../resource/handle.ts";
import { type ClusterOptions, clusterControllers, podControllers } from "./controllers.ts";
import type { ObjectFeed } from "./garbage-collector/object-feed.ts";

/** Milliseconds that runs have when the controllers stop; unfinished work is done at the next start. */
const GRACE_MS = 1_000;

export interface ClusterControllersOptions extends ClusterOptions {
  /** Runs only the stand-ins for scheduler and kubelets, beside other controllers. @default all */
  readonly only?: "pods" | undefined;
  /** The log of the controllers, which retry what fails. @default nothing is logged */
  readonly log?: Log | undefined;
}

/**
 * Runs a cluster's controllers against a server until they are stopped. It does not wait for them.
 *
 * Where the server reports its objects, a controller starts with the first object that concerns it: a test whose
 * cluster never has a StatefulSet does not pay for its controller.
 */
export async function startClusterControllers(
  cluster: ClusterConfig,
  options: ClusterControllersOptions,
): Promise<{ stop(): Promise<void> }> {
  const { clock, log = createLog({ level: "error", format: "json", write: () => {} }), objects } = options;
  const manager = new Manager({
    cluster,
    log,
    clock,
    connectionClock: systemClock,
    settings: { "grace-period": GRACE_MS },
    isolate: false,
    runsAtOnce: true, // the controllers of Kubernetes see the states in between, and some count what they see
    reportsFailures: false, // the controllers of Kubernetes report failures themselves
  });
  const definitions = options.only === "pods" ? podControllers(options) : clusterControllers(options);
  const { controllers, ...rest } = collectDefinitions(definitions);
  const add = async (name: string, ones: readonly AnyController[], others = rest): Promise<void> =>
    manager.add({
      name,
      file: "cluster",
      definitions: { controllers: ones, ...others },
      invoke: (fn) => fn(),
      dispose: () => {},
    });
  try {
    await add("cluster", objects === undefined ? controllers : controllers.filter((one) => kindsOf(one).length === 0));
  } catch (error) {
    await manager.stop();
    throw error;
  }
  if (objects === undefined) return manager;
  const unfollow = whenConcerned(controllers, objects, (one) => {
    if (manager.stopping) return;
    const { name } = declarationsOf(one);
    add(`cluster/${name}`, [one], { resources: [], webhooks: [], plugins: [] }).catch((error: unknown) =>
      log.error("Cannot start a controller of the cluster", { controller: name, error }),
    );
  });
  return {
    stop: () => {
      unfollow();
      return manager.stop();
    },
  };
}

/** Calls back once for each controller, when an object of one of its kinds exists. @returns a function that ends it. */
function whenConcerned(
  controllers: readonly AnyController[],
  objects: ObjectFeed,
  start: (controller: AnyController) => void,
): () => void {
  const waiting = new Map<string, Set<AnyController>>();
  for (const controller of controllers) {
    for (const kind of kindsOf(controller)) waiting.set(kind, (waiting.get(kind) ?? new Set()).add(controller));
  }
  return objects(({ object: { apiVersion, kind } }) => {
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    const concerned = waiting.get(groupKind({ group, kind }));
    if (concerned === undefined) return;
    for (const controller of concerned) {
      for (const others of waiting.values()) if (others !== concerned) others.delete(controller);
      // The server is in the middle of a write.
      setImmediate(() => start(controller));
    }
    waiting.delete(groupKind({ group, kind }));
  });
}

/** The kinds whose objects a controller needs before it has anything to do; empty when they are unknown. */
function kindsOf(controller: AnyController): readonly string[] {
  const { for: primary, watches, sources } = declarationsOf(controller);
  if (primary !== undefined) return [groupKind(primary.resource)];
  return sources.length > 0 ? [] : watches.map(({ resource }) => groupKind(resource));
}
