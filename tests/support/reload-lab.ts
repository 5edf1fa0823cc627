/** Modules in files that are reloaded while they run on an embedded cluster, all in one process. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAll } from "../../src/loader/load-all.ts";
import { ModuleWatcher } from "../../src/loader/module-watcher.ts";
import { scanFolders } from "../../src/loader/scan.ts";
import { Manager } from "../../src/manager/manager.ts";
import type { ManagerOptions } from "../../src/manager/manager-options.ts";
import { createLog } from "../../src/observe/log.ts";
import { startCluster, type TestCluster } from "../../src/testing/start-cluster.ts";
import { until } from "./until.ts";

/** A run, as the module that made it tells. */
export interface ToldRun {
  readonly controller: string;
  /** Of the file, as the module knows it. */
  readonly version: number;
  readonly key: string;
  /** What the object says. */
  readonly value: string;
}

/** What the modules of a lab call: they find it in the global object. */
export interface Teller {
  begin(run: ToldRun): void;
  end(run: ToldRun): void;
}

const GLOBAL = "binnacleReloadLab";

export interface CounterOptions {
  readonly controller: string;
  readonly version: number;
  readonly onReload: "reconcile-all" | "resume";
  /** The body of the run, after it was told; `object` and `context` are there. */
  readonly body?: string | undefined;
  readonly concurrency?: number | undefined;
}

/** A module whose controller tells of its runs for the ConfigMaps of the lab. */
export function telling({ controller, version, onReload, body = "", concurrency = 4 }: CounterOptions): string {
  return `import { defineController, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
const told = globalThis.${GLOBAL};
export default defineController({
  name: "${controller}",
  onReload: "${onReload}",
  concurrency: ${concurrency},
  for: watch(ConfigMap, { labels: "lab=yes" }),
  async reconcile(object, context) {
    const run = { controller: "${controller}", version: ${version}, key: object.metadata.name, value: object.data?.value ?? "" };
    told.begin(run);
    try {
      ${body}
    } finally {
      told.end(run);
    }
  },
});
`;
}

export class ReloadLab implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly manager: Manager;
  /** Watches and lists that the modules' process has asked the server for. */
  readonly requests: { watches: number; lists: number };
  readonly errors: string[];
  readonly #folder: string;
  readonly #stack: AsyncDisposableStack;

  private constructor(parts: {
    cluster: TestCluster;
    manager: Manager;
    folder: string;
    requests: ReloadLab["requests"];
    errors: string[];
    stack: AsyncDisposableStack;
  }) {
    this.cluster = parts.cluster;
    this.manager = parts.manager;
    this.requests = parts.requests;
    this.errors = parts.errors;
    this.#folder = parts.folder;
    this.#stack = parts.stack;
  }

  /** @param files by name. Resolves when all controllers have synced. */
  static async start(
    files: Readonly<Record<string, string>>,
    teller: Teller,
    options: Partial<ManagerOptions> = {},
  ): Promise<ReloadLab> {
    await using stack = new AsyncDisposableStack();
    Object.assign(globalThis, { [GLOBAL]: teller });
    stack.defer(() => void Reflect.deleteProperty(globalThis, GLOBAL));
    const cluster = stack.use(await startCluster({ pods: false }));
    const folder = await mkdtemp(join(tmpdir(), "binnacle-reload-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const requests = { watches: 0, lists: 0 };
    const { answer } = cluster.config;
    const errors: string[] = [];
    const log = createLog({ level: "error", format: "json", write: (line) => void errors.push(line) });
    const manager = new Manager({
      cluster: {
        ...cluster.config,
        answer: (request) => {
          const { searchParams, pathname } = new URL(request.url);
          if (searchParams.get("watch") === "true" || searchParams.get("watch") === "1") requests.watches++;
          else if (request.method === "GET" && pathname.endsWith("/configmaps")) requests.lists++;
          return answer!(request);
        },
      },
      log,
      isolate: false,
      ...options,
      settings: { "grace-period": 5_000, ...options.settings },
    });
    stack.defer(() => manager.stop());
    await manager.start();
    const offered = {
      binnacle: await import("../../src/index.ts"),
      "binnacle/resources": await import("../../src/resource/builtin/index.ts"),
      hono: await import("hono"),
    };
    const load = { offered, onError: (module: string, error: unknown) => manager.modules.reportError(module, error) };
    const loaded = await Promise.all(loadAll(scanFolders([folder]), load));
    for (const { result } of loaded) {
      if ("broken" in result) throw new Error(result.broken);
      await manager.add(result.module);
    }
    manager.loaded();
    stack.use(new ModuleWatcher([folder], { ...load, loaded, log, target: manager }));
    const lab = new ReloadLab({ cluster, manager, folder, requests, errors, stack: stack.move() });
    await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
    return lab;
  }

  /** Saves a file as editors do: beside, and then in its place. */
  async save(name: string, text: string): Promise<void> {
    const beside = join(this.#folder, `.${name}.tmp`);
    await writeFile(beside, text);
    await rename(beside, join(this.#folder, name));
  }

  /** Removes a file. */
  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name));
  }

  /** The version of a controller that runs. */
  controller(name: string): object {
    return this.manager.modules.controllers.find((one) => one.name === name)!;
  }

  /** How many new versions have taken the place of others. */
  get reloads(): number {
    return this.manager.modules.statuses().reduce((sum, { reloads }) => sum + reloads.succeeded, 0);
  }

  /** Waits until no controller has a key. */
  async idle(): Promise<void> {
    await until(() =>
      this.manager.modules.controllers.every(({ queue }) => queue.depth === 0 && queue.processing === 0),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
