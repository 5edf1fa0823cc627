import { afterEach, describe, expect, test } from "bun:test";
import { sample } from "../../tests/support/binary.ts";
import { until } from "../../tests/support/until.ts";
import { available, type Json } from "../../tests/support/cluster.ts";
import { startControlPlane } from "../../tests/support/control-plane.ts";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import type { ShardBy } from "../controller/definition.ts";
import { startEmbeddedCluster } from "../cluster/index.ts";
import { defineController, defineKeyController, definePlugin, defineResource, of, watch, z } from "../index.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Manager } from "./manager.ts";

const Parcel = defineResource({
  group: "post.binnacle.dev",
  version: "v1",
  kind: "Parcel",
  spec: z.object({ to: z.string() }),
  status: z.object({ by: z.string().optional() }),
});

const OBJECTS = 60;
const NAMESPACES = ["red", "green", "blue", "black", "white"];

interface Server {
  readonly config: ClusterConfig;
  stop(): Promise<unknown>;
}

/** One server divides collections itself, the other ignores the request to do so. */
const servers: Readonly<Record<string, () => Promise<Server>>> = {
  "a server that does not divide": startEmbeddedCluster,
  ...(available && {
    "a server that divides": async () => {
      const plane = await startControlPlane({ flags: ["--feature-gates=ShardedListAndWatch=true"] });
      return {
        config: await loadKubeconfig({ kubeconfig: plane.kubeconfig, env: {} }),
        stop: () => plane.stop(),
      };
    },
  }),
};

/** What the replicas of a test report. */
class Post implements AsyncDisposable {
  readonly server: Server;
  readonly transport: Transport;
  readonly shardBy: ShardBy;
  readonly #replicas = new Map<string, { readonly manager: Manager; readonly log: string[] }>();
  /** Which replica runs a key now. */
  readonly running: Map<string, string> = new Map();
  /** Which replicas have run a key, in order. */
  readonly runs: Map<string, string[]> = new Map();
  readonly overlaps: string[] = [];
  /** The duration of a run in milliseconds. */
  pause = 0;
  readonly plugins: string[] = [];
  /** Whether runs ignore their signal, and continue when they are told. */
  hangs = false;
  readonly hanging: PromiseWithResolvers<void>[] = [];

  constructor(server: Server, shardBy: ShardBy) {
    this.server = server;
    this.shardBy = shardBy;
    this.transport = createTransport(server.config);
  }

  async begin(name: string, seats = 64): Promise<void> {
    const log: string[] = [];
    const manager = new Manager({
      cluster: this.server.config,
      log: createLog({ level: "info", format: "json", write: (line) => log.push(line) }),
      settings: {
        "health-probe-bind-address": "127.0.0.1:0",
        "metrics-bind-address": "127.0.0.1:0",
        "install-crds": true,
        "grace-period": 3_000,
      },
      sharding: {
        leaseDuration: 15_000,
        renewDeadline: 10_000,
        retryPeriod: 2_000,
        id: "post",
        namespace: "default",
        release: true,
        seats,
        identity: name,
      },
    });
    this.#replicas.set(name, { manager, log });
    await manager.start();
    await manager.add({
      name: "post.ts",
      file: "post.ts",
      definitions: collectDefinitions(this.#definitions(name)),
      invoke: (fn) => fn(),
      dispose: () => {},
    });
    manager.loaded();
  }

  #definitions(name: string): readonly unknown[] {
    return [
      Parcel,
      defineController({
        for: Parcel,
        owns: [ConfigMap],
        shardBy: this.shardBy,
        concurrency: 8,
        reconcile: async (parcel, { children, status }) => {
          await this.#run(`${parcel.metadata.namespace}/${parcel.metadata.name}`, name, async () => {
            const data = { to: parcel.spec.to };
            await children.sync({ label: of(ConfigMap, { metadata: { name: parcel.metadata.name }, data }) });
            status.set({ by: name });
          });
        },
      }),
      defineKeyController({
        name: "addresses",
        watches: [watch(Parcel, { enqueue: (parcel) => [{ name: `to-${parcel.spec.to}` }] })],
        reconcile: async (key) => this.#run(`key ${key.name}`, name, async () => {}),
      }),
      definePlugin({
        name: "office",
        setup: (registry) => {
          registry.run(async ({ signal }) => {
            this.plugins.push(name);
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            this.plugins.splice(this.plugins.indexOf(name), 1);
          });
        },
      }),
    ];
  }

  async #run(key: string, replica: string, work: () => Promise<void>): Promise<void> {
    const other = this.running.get(key);
    if (other !== undefined) this.overlaps.push(`${key}: ${replica} while ${other}`);
    this.running.set(key, replica);
    this.runs.set(key, [...(this.runs.get(key) ?? []), replica]);
    try {
      if (this.pause > 0) await Bun.sleep(this.pause);
      if (this.hangs && !key.startsWith("key ")) {
        const hanging = Promise.withResolvers<void>();
        this.hanging.push(hanging);
        await hanging.promise;
      }
      await work();
    } finally {
      this.running.delete(key);
    }
  }

  async stop(name: string): Promise<void> {
    const { manager } = this.#replicas.get(name)!;
    this.#replicas.delete(name);
    await manager.stop();
  }

  async get(name: string, path: string, listener: "health-probe" | "metrics"): Promise<string> {
    return (await fetch(`http://${this.#replicas.get(name)!.manager.address(listener)}${path}`)).text();
  }

  async metric(name: string, metric: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return sample(await this.get(name, "/metrics", "metrics"), metric, labels);
  }

  /** Waits until nothing has run for a while. */
  async idle(): Promise<void> {
    let seen = -1;
    let since = performance.now();
    await until(
      () => {
        const runs = [...this.runs.values()].reduce((sum, by) => sum + by.length, 0);
        if (runs !== seen || this.running.size > 0) since = performance.now();
        seen = runs;
        return performance.now() - since > 400;
      },
      { what: "idle replicas" },
    );
  }

  /** Returns how many parcels the replica keeps to reconcile them. */
  parcelsOf(name: string): Promise<number> {
    return this.metric(name, "binnacle_informer_objects", { kind: "Parcel", selector: "shardBy=uid" });
  }

  log(name: string): string {
    return this.#replicas.get(name)!.log.join("");
  }

  async create(path: string, body: unknown): Promise<void> {
    await this.transport.request({ method: "POST", path, body });
  }

  async parcels(): Promise<readonly Json[]> {
    const list = await this.transport.request<Json>({ method: "GET", path: "/apis/post.binnacle.dev/v1/parcels" });
    return list.items ?? [];
  }

  /** Waits until these replicas hold all keys between them, and nothing is being handed over. */
  async divided(names: readonly string[]): Promise<readonly number[]> {
    return until(
      async () => {
        const parts = await Promise.all(names.map((name) => this.metric(name, "binnacle_shard_ratio")));
        const whole = parts.reduce((sum, part) => sum + part);
        return Math.abs(whole - 1) < 1e-9 && parts.every((part) => part > 0) && parts;
      },
      { within: 90_000, what: () => names.map((name) => this.log(name)).join("\n") },
    );
  }

  /** Waits until each key has run since `since` runs. @returns who last ran it. */
  async worked(): Promise<ReadonlyMap<string, string>> {
    await until(
      async () => {
        const parcels = await this.parcels();
        return parcels.length === OBJECTS && parcels.every(({ status }) => status?.["by"] !== undefined);
      },
      { within: 90_000, what: "every parcel worked" },
    );
    return new Map([...this.runs].map(([key, by]) => [key, by.at(-1)!]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#replicas.keys()].map((name) => this.stop(name)));
    await this.transport.close();
    await this.server.stop();
  }
}

let posts: Post[] = [];
afterEach(async () => {
  for (const post of posts.splice(0)) await post[Symbol.asyncDispose]();
});

async function setUp(start: () => Promise<Server>, shardBy: ShardBy): Promise<Post> {
  const post = new Post(await start(), shardBy);
  posts.push(post);
  for (const name of NAMESPACES) await post.create("/api/v1/namespaces", { metadata: { name } });
  return post;
}

async function fill(post: Post, labelled?: readonly string[]): Promise<void> {
  for (let index = 0; index < OBJECTS; index++) {
    const namespace = NAMESPACES[index % NAMESPACES.length]!;
    const labels = labelled && { cell: labelled[index % labelled.length]! };
    await post.create(`/apis/post.binnacle.dev/v1/namespaces/${namespace}/parcels`, {
      apiVersion: "post.binnacle.dev/v1",
      kind: "Parcel",
      metadata: { name: `parcel-${index}`, labels },
      spec: { to: `street-${index % 7}` },
    });
  }
}

for (const [server, start] of Object.entries(servers)) {
  describe(`replicas that divide keys by UID, with ${server}`, () => {
    test("each key is worked by one, through joining, handing over and stopping", async () => {
      const post = await setUp(start, "uid");
      await post.begin("first");
      await post.divided(["first"]);
      await fill(post);
      await post.worked();
      expect(new Set([...post.runs.values()].flat())).toEqual(new Set(["first"]));

      post.pause = 20;
      await post.begin("second");
      await post.begin("third");
      const parts = await post.divided(["first", "second", "third"]);
      for (const part of parts) expect(part).toBeCloseTo(1 / 3, 2);
      // Keys that were handed over run again with their new owner, and never with the old one.
      await until(() => new Set([...post.runs.values()].map((by) => by.at(-1))).size === 3, { what: "all three work" });
      const kept = await until(
        async () => {
          const counts = await Promise.all(["first", "second", "third"].map((name) => post.parcelsOf(name)));
          return counts.reduce((sum, count) => sum + count) === OBJECTS && counts;
        },
        { what: "each parcel is kept by one" },
      );
      for (const count of kept) expect(count).toBeGreaterThan(5);
      expect(await post.get("first", "/readyz?verbose", "health-probe")).toContain("33.3% of the keys");
      await until(() => post.plugins.length === 1, { what: "one replica runs the plugin" });

      await post.idle();
      const before = new Map(post.runs);
      await post.stop("second");
      await post.divided(["first", "third"]);
      await until(() => [...post.runs.values()].every((by) => by.at(-1) !== "second"), {
        what: "all of the second's keys are worked by others",
      });
      await post.idle();
      // The keys of the others do not run again.
      for (const [key, by] of before) {
        if (!key.startsWith("key ") && by.at(-1) !== "second") expect(post.runs.get(key)).toEqual(by);
      }
      expect(post.overlaps).toEqual([]);
      expect(post.plugins).toHaveLength(1);
      const leases = await post.transport.request<Json>({
        method: "GET",
        path: "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        query: new URLSearchParams({ labelSelector: "binnacle.dev/shards=post" }),
      });
      expect(leases.items!.map(({ metadata }) => metadata.name).sort()).toEqual([
        "post-shard-0",
        "post-shard-1",
        "post-shard-2",
      ]);
    }, 180_000);
  });
}

test("replicas beyond --shards stand by, and are ready", async () => {
  const post = await setUp(startEmbeddedCluster, "uid");
  await post.begin("first", 1);
  await post.divided(["first"]);
  await post.begin("second", 1);
  await until(async () => (await post.get("second", "/readyz", "health-probe")) === "ok", {
    what: "the second is ready",
  });
  expect(await post.get("second", "/readyz?verbose", "health-probe")).toContain("standing by, 1 replicas work");
  await fill(post);
  await post.worked();
  expect(await post.parcelsOf("second")).toBe(0);
  await post.stop("first");
  await post.divided(["second"]);
  await until(() => [...post.runs.values()].every((by) => by.at(-1) === "second"), { what: "the second works all" });
  expect(post.overlaps).toEqual([]);
}, 180_000);

test("Sharding fails /healthz when a replica did not notice for long that its Lease ran out", async () => {
  await using cleanup = new AsyncDisposableStack();
  const server = await startEmbeddedCluster();
  cleanup.defer(() => server.stop());
  const clock = new FakeClock();
  const manager = new Manager({
    cluster: server.config,
    log: createLog({ level: "error", format: "json", write: () => {} }),
    settings: { "health-probe-bind-address": "127.0.0.1:0" },
    clock,
    connectionClock: systemClock,
    sharding: { ...defaultDurations, id: "post", namespace: "default", release: true, seats: 1, identity: "us" },
  });
  cleanup.defer(() => manager.stop());
  await manager.start();
  manager.loaded();
  const get = async (path: string): Promise<readonly [number, string]> => {
    const response = await fetch(`http://${manager.address("health-probe")}${path}`);
    return [response.status, await response.text()];
  };
  await until(async () => (await get("/readyz?verbose"))[1].includes("100% of the keys"), { what: "it has its share" });
  // Time has passed, and no timer has run: nothing compared the clocks.
  const now = clock.now.bind(clock);
  clock.now = () => now() + 35_000;
  expect(await get("/healthz/leaderElection")).toEqual([200, "ok"]);
  clock.now = () => now() + 35_001;
  const message = "internal server error: failed election to renew leadership on lease post-shard-0\n";
  expect(await get("/healthz/leaderElection")).toEqual([500, message]);
});

test("a run that does not end is fenced after the grace period, and only then another replica works its key", async () => {
  const post = await setUp(startEmbeddedCluster, "uid");
  await post.begin("first");
  await post.divided(["first"]);
  post.hangs = true;
  await fill(post);
  await until(() => post.hanging.length === 8, { what: "runs that hang" });
  post.hangs = false;
  const came = performance.now();
  await post.begin("second");
  await post.divided(["first", "second"]);
  expect(performance.now() - came).toBeGreaterThan(3_000);
  expect(post.log("first")).toContain("Runs did not end within the grace period, and their keys go to another replica");
  const stuck = [...post.running.keys()];
  for (const { resolve } of post.hanging) resolve();
  await post.worked();
  // The hanging run wrote nothing after it: the status names the new owner of the key.
  const parcels = await post.parcels();
  for (const key of stuck) {
    const parcel = parcels.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key);
    expect(parcel?.status?.["by"]).toBe(post.runs.get(key)!.at(-1));
  }
}, 180_000);

test("all objects of a namespace, and their children, are kept by one replica", async () => {
  const post = await setUp(startEmbeddedCluster, "namespace");
  await post.begin("first");
  await post.begin("second");
  await post.divided(["first", "second"]);
  await fill(post);
  const by = await post.worked();
  for (const namespace of NAMESPACES) {
    const workers = new Set([...by].filter(([key]) => key.startsWith(`${namespace}/`)).map(([, replica]) => replica));
    expect(workers.size).toBe(1);
  }
  expect(post.overlaps).toEqual([]);
}, 180_000);

test("children without the label that divides their owners are made again when they are deleted", async () => {
  const values = ["one", "two", "three"];
  const post = await setUp(startEmbeddedCluster, { label: "cell", values });
  await post.begin("first");
  await post.begin("second");
  await post.divided(["first", "second"]);
  await fill(post, values);
  await post.worked();
  await post.idle();
  for (const index of [0, 5, 10]) {
    const path = `/api/v1/namespaces/${NAMESPACES[0]}/configmaps/parcel-${index}`;
    const child = await post.transport.request<Json>({ method: "GET", path });
    await post.transport.request({ method: "DELETE", path });
    await until(
      async () => {
        const now = await post.transport.request<Json>({ method: "GET", path }).catch(() => undefined);
        return now !== undefined && now.metadata.uid !== child.metadata.uid;
      },
      { what: `the child of parcel-${index} is there again` },
    );
  }
  expect(post.overlaps).toEqual([]);
}, 180_000);

test("a label divides objects by a selector; its values go to different replicas", async () => {
  const values = Array.from({ length: 12 }, (_, index) => `cell-${index}`);
  const post = await setUp(startEmbeddedCluster, { label: "cell", values });
  await post.begin("first");
  await post.begin("second");
  await post.divided(["first", "second"]);
  await fill(post, values);
  await post.worked();
  const kept: number[] = [];
  for (const name of ["first", "second"]) {
    const text = await post.get(name, "/metrics", "metrics");
    const line = text
      .split("\n")
      .find(
        (one) =>
          one.startsWith("binnacle_informer_objects") &&
          one.includes('selector="shardBy=cell in') &&
          one.includes('kind="Parcel"'),
      );
    kept.push(Number(line!.slice(line!.lastIndexOf(" ") + 1)));
  }
  expect(kept[0]! + kept[1]!).toBeGreaterThanOrEqual(OBJECTS);
  expect(new Set([...post.runs].filter(([key]) => !key.startsWith("key ")).flatMap(([, by]) => by)).size).toBe(2);
  expect(post.overlaps).toEqual([]);
}, 180_000);
