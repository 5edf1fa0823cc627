/** The controllers of a cluster, run by a manager of their own. */
import type { ClusterConfig } from "../kube/cluster-config.ts";
import { Manager } from "../manager/manager.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog, type Log } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { type ClusterOptions, clusterControllers, podControllers } from "./controllers.ts";

/** Milliseconds that runs of the cluster's own controllers get at the end: what they leave undone they do next time. */
const GRACE_MS = 1_000;

export interface ClusterControllersOptions extends ClusterOptions {
  /** The stand-in for scheduler and kubelets alone: somebody else runs the other controllers. @default all */
  readonly only?: "pods" | undefined;
  /** What they have to say; what fails they try again. @default nothing is told */
  readonly log?: Log | undefined;
}

/** Runs a cluster's controllers against a server, until they are stopped. It does not wait for them. */
export async function startClusterControllers(
  cluster: ClusterConfig,
  options: ClusterControllersOptions,
): Promise<{ stop(): Promise<void> }> {
  const { clock, log = createLog({ level: "error", format: "json", write: () => {} }) } = options;
  const manager = new Manager({
    cluster,
    log,
    clock,
    connectionClock: systemClock,
    healthAddress: "0",
    metricsAddress: "0",
    grace: GRACE_MS,
    isolate: false,
  });
  const controllers = options.only === "pods" ? podControllers(options) : clusterControllers(options);
  try {
    await manager.add({
      name: "cluster",
      file: "cluster",
      definitions: collectDefinitions(controllers),
      invoke: (fn) => fn(),
      dispose: () => {},
    });
    return manager;
  } catch (error) {
    await manager.stop();
    throw error;
  }
}
