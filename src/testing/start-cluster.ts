/** Starts a cluster for a test. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "../client/client.ts";
import type { PodBehaviour } from "../cluster/index.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import type { AccessOptions } from "../manager/account-access.ts";
import { createLog } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { Resource } from "../resource/handle.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { errorsAtCaller } from "./errors-at-caller.ts";
import { startEmbedded } from "./embedded-server.ts";
import { FaultLayer } from "./fault-layer.ts";
import type { Faults } from "./faults.ts";
import { Journal } from "./journal.ts";
import { follow, unfollow } from "./recent-past.ts";
import type { RunningModule } from "./running-module.ts";
import { type Server, withAnswer } from "./server.ts";

export interface StartClusterOptions {
  /**
   * `embedded` runs in this process and starts in milliseconds. `real` starts etcd and kube-apiserver from
   * `KUBEBUILDER_ASSETS` in seconds, with kube-controller-manager if it is there too. The tests of a process use it one
   * after the other: it is emptied after each of them, except for the definitions that `runModule` has installed,
   * because kube-controller-manager notices a new kind only up to 30 s later.
   *
   * @default `$BINNACLE_TEST_SERVER`, otherwise `embedded`
   */
  readonly server?: "embedded" | "real" | undefined;
  /**
   * The behaviour of pods; with `false` they stay pending.
   *
   * @default every container is ready at once; those of a pod whose `restartPolicy` is OnFailure or Never, such as a
   * Job's, end at once with success, and others run on
   */
  readonly pods?: PodBehaviour | false | undefined;
  /**
   * The clock of the cluster's own controllers, of modules and, if embedded, of the server. A real server and its
   * controller manager always use the machine's time, and a warning says so.
   *
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined;
}

/**
 * Starts a cluster of its own for a test: nothing is shared with another one.
 *
 * @example
 * await using cluster = await startCluster();
 * await using module = await runModule(guestbook, cluster);
 * await cluster.client.create(Guestbook, { metadata: { namespace: "default", name: "one" }, spec: { message: "hi" } });
 *
 * @throws Error when the real programs cannot be found or started.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<TestCluster> {
  const { pods, clock } = options;
  const kind = options.server ?? (process.env["BINNACLE_TEST_SERVER"] || "embedded");
  if (kind !== "embedded" && kind !== "real") {
    throw new TypeError(`Cannot start a cluster on '${kind}': expected 'embedded' or 'real'`);
  }
  const journal = new Journal();
  const start = kind === "real" ? (await import("./real-server.ts")).startReal : startEmbedded;
  const server = await start({ pods, clock, journal });
  follow(journal);
  return new TestCluster({ kind, server, journal, clock });
}

/** A service account under which a manager runs modules. */
export interface ModuleAccount {
  /** Its access to the server, through the faults. */
  readonly config: ClusterConfig;
  readonly access: AccessOptions;
}

/** A running cluster, with an administrator's client and the faults that modules meet. */
export class TestCluster implements AsyncDisposable {
  readonly server: "embedded" | "real";
  readonly faults: Faults;
  /** An administrator's access, through the faults. */
  readonly config: ClusterConfig;
  /** The clock of modules. @default the machine's clock */
  readonly clock: Clock | undefined;
  readonly #server: Server;
  readonly #journal: Journal;
  readonly #layer: FaultLayer;
  readonly #api: ApiClient;
  readonly #client: Client;
  readonly #before = new Set<() => Promise<void>>();
  #accounts = 0;
  #folder: string | undefined;
  #stopped: Promise<void> | undefined;

  /** @internal startCluster creates it. */
  constructor(parts: { kind: "embedded" | "real"; server: Server; journal: Journal; clock: Clock | undefined }) {
    const { kind, server, journal, clock } = parts;
    const { config } = server;
    this.server = kind;
    this.clock = clock;
    this.#server = server;
    this.#journal = journal;
    const layer = new FaultLayer({
      answer: (request) => config.answer!(request),
      onChunk: (chunk) => journal.chunk(chunk),
      onStruck: ({ method, path }, effect) =>
        journal.note({ method, path, by: `struck by the fault '${effect}'`, code: 0, answer: "" }),
    });
    this.faults = layer;
    this.#layer = layer;
    this.config = this.configOf(undefined);
    const log = createLog({ level: "error", format: "pretty" });
    this.#api = apiClient(config, { manager: "test", log });
    this.#client = errorsAtCaller(this.#api.client);
  }

  /** Reads and writes as an administrator, directly on the server, without a cache and without faults. */
  get client(): Client {
    return this.#client;
  }

  /** The path of an administrator's kubeconfig for kubectl and other programs, without faults. */
  get kubeconfig(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), "binnacle-test-"));
    const file = join(this.#folder, "kubeconfig");
    writeFileSync(file, this.#server.kubeconfig, { mode: 0o600 });
    return file;
  }

  /** Lets a module run as a service account of its own, without permissions until they are granted. @internal */
  async account(module: RunningModule): Promise<ModuleAccount> {
    this.#accounts += 1;
    const name = this.#accounts === 1 ? "binnacle" : `binnacle-${this.#accounts}`;
    const account = { namespace: "binnacle-system", name };
    const reached = await this.#server.as(account);
    return {
      config: withAnswer(reached, (request) => this.#layer.answer(request, { carry: reached.answer, module })),
      access: { account, administrator: this.#server.backstage },
    };
  }

  /** An administrator's access, through the faults that strike the module. @internal */
  configOf(module: RunningModule | undefined): ClusterConfig {
    return withAnswer(this.#server.config, (request) => this.#layer.answer(request, { module }));
  }

  /** Called before a module installs its kinds. @internal */
  async prepare(kinds: readonly Resource[]): Promise<void> {
    await this.#server.prepare?.(kinds);
  }

  /** Calls this function when it stops, before its server does. @internal */
  beforeStop(end: () => Promise<void>): Disposable {
    this.#before.add(end);
    return { [Symbol.dispose]: () => void this.#before.delete(end) };
  }

  /** Stops the modules that still run on the cluster, its controllers and its server. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    unfollow(this.#journal);
    this.faults.clear();
    await Promise.all([...this.#before].map((end) => end()));
    await this.#api.close();
    await this.#server.stop();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
