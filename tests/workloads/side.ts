/** The two clusters that situations run on: kube-controller-manager's, and the embedded one. */
import { startControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { podControllers } from "../../src/cluster/controllers.ts";
import { startEmbeddedCluster } from "../../src/cluster/index.ts";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { Manager } from "../../src/manager/manager.ts";
import { collectDefinitions } from "../../src/module/module-definitions.ts";
import { createLog } from "../../src/observe/log.ts";

/** A cluster, as a situation reaches it. */
export interface Side extends AsyncDisposable {
  readonly name: "real" | "embedded";
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** What the controllers had to say that a reader should know. */
const log = createLog({ level: "error", format: "pretty" });

/** Many situations run at once: nobody waits for a turn. */
const controllerFlags = [
  "--kube-api-qps=2000",
  "--kube-api-burst=4000",
  "--concurrent-deployment-syncs=20",
  "--concurrent-replicaset-syncs=20",
  "--concurrent-statefulset-syncs=20",
  "--concurrent-daemonset-syncs=20",
  "--concurrent-job-syncs=20",
  "--concurrent-cron-job-syncs=20",
  "--concurrent-endpoint-syncs=20",
  "--concurrent-service-endpoint-syncs=20",
  "--concurrent-rc-syncs=20",
  "--concurrent-gc-syncs=20",
];

/** kube-apiserver and kube-controller-manager, and of binnacle nothing but what stands in for machines. */
export async function realSide(): Promise<Side> {
  const plane = await startControlPlane({ controllers: true, controllerFlags });
  const cluster = await loadKubeconfig({ kubeconfig: plane.kubeconfig, env: {} });
  const manager = new Manager({
    cluster,
    log,
    settings: { "grace-period": 1_000 },
    isolate: false,
    reportsFailures: false,
  });
  await manager.add({
    name: "pods",
    file: "pods",
    definitions: collectDefinitions(podControllers({})),
    invoke: (fn) => fn(),
    dispose: () => {},
  });
  return {
    name: "real",
    fetch: (path, init) => plane.request(path, init),
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await plane.stop();
    },
  };
}

/** The embedded API server with all controllers of `src/cluster/`. */
export async function embeddedSide(): Promise<Side> {
  const cluster = await startEmbeddedCluster({ log });
  const token = /token: (\S+)/.exec(cluster.kubeconfig)?.[1] ?? "";
  return {
    name: "embedded",
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${token}`);
      return cluster.apiServer.fetch(new Request(`https://embedded${path}`, { ...init, headers }));
    },
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}
