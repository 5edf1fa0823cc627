/** The run time in this process, with definitions of the test itself, so that a test can look inside. */
import type { ControlPlane } from "../../../scripts/controlplane/controlplane.ts";
import { until } from "../until.ts";
import type { RunHistory } from "../../../src/history/run-history.ts";
import type { ClusterConfig } from "../../../src/kube/config/cluster-config.ts";
import { loadKubeconfig } from "../../../src/kube/config/kubeconfig.ts";
import { Manager } from "../../../src/manager/manager.ts";
import type { WebhooksOptions } from "../../../src/manager/webhooks.ts";
import { collectDefinitions } from "../../../src/module/module-definitions.ts";
import type { LoadedModule } from "../../../src/module/loaded-module.ts";
import { createLog, type LogLevel } from "../../../src/observe/log.ts";

export interface InProcessOptions {
  /** @default the control plane's administrator */
  readonly cluster?: ClusterConfig | undefined;
  readonly plane?: ControlPlane | undefined;
  readonly definitions: readonly unknown[];
  readonly namespaces?: readonly string[] | undefined;
  /** @default "info" */
  readonly level?: LogLevel | undefined;
  /** Milliseconds that runs have to end. @default 5_000 */
  readonly grace?: number | undefined;
  /** Serves webhooks on the loopback and registers them; only those that convert with `definitions`. @default false */
  readonly webhooks?: boolean | "definitions" | undefined;
  /** Records the runs. @default nothing is recorded */
  readonly history?: RunHistory | undefined;
}

/** One line of the log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

function onLoopback(mode: "apply" | "definitions"): WebhooksOptions {
  return {
    address: "127.0.0.1:0",
    certificates: { kind: "memory", hosts: ["127.0.0.1"] },
    registration: { reach: { host: "127.0.0.1" }, mode, ownNamespaces: [] },
  };
}

export class InProcess implements AsyncDisposable {
  readonly manager: Manager;
  readonly log: readonly LogLine[];

  private constructor(manager: Manager, log: readonly LogLine[]) {
    this.manager = manager;
    this.log = log;
  }

  /** Installs the definitions' CRDs, starts their controllers, and waits until all have synced. */
  static async start(options: InProcessOptions): Promise<InProcess> {
    const { definitions, namespaces, level = "info", grace = 5_000, webhooks = false, history } = options;
    const lines: LogLine[] = [];
    const cluster = options.cluster ?? (await loadKubeconfig({ kubeconfig: options.plane!.kubeconfig, env: {} }));
    const manager = new Manager({
      cluster,
      log: createLog({ level, format: "json", write: (line) => void lines.push(JSON.parse(line) as LogLine) }),
      settings: { namespace: namespaces, "install-crds": true, "grace-period": grace },
      webhooks: webhooks === false ? undefined : onLoopback(webhooks === true ? "apply" : webhooks),
      development: true,
      history,
    });
    const operator = new InProcess(manager, lines);
    await manager.add(moduleOf(definitions));
    manager.loaded();
    await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced), {
      what: () => `synced controllers: ${operator.text}`,
    });
    return operator;
  }

  /** Reloads the module with other definitions, as after a change of its file. */
  replace(definitions: readonly unknown[]): Promise<void> {
    return this.manager.replace(moduleOf(definitions));
  }

  get text(): string {
    return this.log.map((line) => JSON.stringify(line)).join("\n");
  }

  /** The lines of a level and above it. */
  lines(level: "warn" | "error"): readonly LogLine[] {
    return this.log.filter((line) => line.level === "error" || line.level === level);
  }

  /** Waits until no key has been queued or running for so many milliseconds; keys that wait for a time do not count. */
  async idle(quiet = 150): Promise<void> {
    let since = performance.now();
    await until(
      () => {
        const busy = this.manager.modules.controllers.some(({ queue }) => queue.depth > 0 || queue.processing > 0);
        if (busy) since = performance.now();
        return performance.now() - since >= quiet;
      },
      { within: 60_000, every: 5, what: () => `an idle operator: ${this.text.slice(-2_000)}` },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.manager.stop();
  }
}

function moduleOf(definitions: readonly unknown[]): LoadedModule {
  return {
    name: "test",
    file: "test.ts",
    definitions: collectDefinitions(definitions),
    invoke: (fn) => fn(),
    dispose: () => {},
  };
}
