/** Replicas of the binary that divide objects, what passes between them and the API server, and what their runs record. */
import { createConnection, createServer, type AddressInfo, type Server } from "node:net";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Bench, type Operator } from "../binary.ts";
import { until } from "../until.ts";
import { Cluster } from "../cluster.ts";

const ITEMS = "/apis/fleet.binnacle.dev/v1/namespaces/default/items";
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "items.fleet.binnacle.dev" },
  spec: {
    group: "fleet.binnacle.dev",
    scope: "Namespaced",
    names: { plural: "items", singular: "item", kind: "Item", listKind: "ItemList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { text: { type: "string" }, turn: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
};
/** Requests of the test itself at a time. */
const PARALLEL = 24;

/** The module: each run waits, writes nothing, and records when it began and ended. */
function moduleOf(records: string, options: { readonly wait: number; readonly concurrency: number }): string {
  return `
import { appendFileSync } from "node:fs";
import { defineController, defineResource, z } from "binnacle";
const Item = defineResource({ group: "fleet.binnacle.dev", version: "v1", kind: "Item",
  spec: z.object({ text: z.string(), turn: z.int().optional() }) });
export const item = defineController({ for: Item, concurrency: ${options.concurrency},
  async reconcile({ metadata, spec }) {
    const began = Date.now();
    await new Promise((resolve) => setTimeout(resolve, ${options.wait}));
    appendFileSync(${JSON.stringify(records)}, \`\${metadata.name} \${spec.turn ?? 0} \${began} \${Date.now()} \${process.pid}\\n\`);
  } });
`;
}

/** One run, as the module recorded it at its end. */
export interface RecordedRun {
  readonly key: string;
  /** Of the object. */
  readonly turn: number;
  readonly began: number;
  readonly ended: number;
  readonly pid: number;
}

/** A replica, and the bytes that the server has sent it. */
export interface Replica {
  readonly operator: Operator;
  readonly pid: number;
  readonly received: () => number;
}

export interface FleetOptions {
  /** Milliseconds of a run. */
  readonly wait: number;
  readonly concurrency: number;
  /** The server divides collections. */
  readonly divides: boolean;
}

export class Fleet implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly replicas: Replica[] = [];
  readonly #bench: Bench;
  readonly #options: FleetOptions;
  readonly #cleanup = new AsyncDisposableStack();
  #records = 0;

  private constructor(cluster: Cluster, bench: Bench, options: FleetOptions) {
    this.cluster = this.#cleanup.use(cluster);
    this.#bench = this.#cleanup.use(bench);
    this.#options = options;
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const flags = options.divides ? ["--feature-gates=ShardedListAndWatch=true"] : [];
    const fleet = new Fleet(await Cluster.start({ controllers: false, flags }), await Bench.create(), options);
    await fleet.cluster.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: CRD });
    await until(() => fleet.cluster.serves(ITEMS), { what: "items are served" });
    // Until there is work, replicas run a module without any.
    await fleet.#bench.write(
      "controllers/idle.ts",
      `import { definePlugin } from "binnacle";
export const idle = definePlugin({ name: "idle", setup() {} });`,
    );
    return fleet;
  }

  /** Makes objects of about so many bytes. */
  async fill(count: number, bytes: number): Promise<void> {
    await this.#each(count, (index) =>
      this.cluster.send("POST", ITEMS, {
        body: {
          apiVersion: "fleet.binnacle.dev/v1",
          kind: "Item",
          metadata: { name: nameOf(index) },
          // As little compressible as what people write.
          spec: { text: randomBytes(bytes / 2).toString("hex") },
        },
      }),
    );
  }

  /** Changes the first objects. */
  async change(count: number, turn: number): Promise<void> {
    await this.#each(count, (index) => this.cluster.patch(`${ITEMS}/${nameOf(index)}`, { spec: { turn } }));
  }

  /** Starts a replica behind a proxy of its own, and waits until it is ready. */
  async begin(): Promise<Replica> {
    const text = await readFile(this.cluster.kubeconfig, "utf8");
    const port = Number(/server: https:\/\/127\.0\.0\.1:(\d+)/.exec(text)![1]);
    const proxy = this.#cleanup.use(await CountingProxy.start(port));
    const kubeconfig = await this.#bench.write(
      `kubeconfig-${proxy.port}`,
      text.replace(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`),
    );
    const operator = this.#cleanup.use(
      await this.#bench.run({
        kubeconfig,
        args: ["--shards=auto", "--leader-election-id=fleet", "--leader-election-namespace=default", "--watch"],
      }),
    );
    await operator.ready();
    const replica = { operator, pid: operator.child.pid, received: () => proxy.received };
    this.replicas.push(replica);
    return replica;
  }

  /** Waits until the replicas hold all keys between them. @returns their parts */
  async divided(replicas: readonly Replica[] = this.replicas, within = 30_000): Promise<readonly number[]> {
    return until(
      async () => {
        const parts = await Promise.all(replicas.map(({ operator }) => operator.metric("binnacle_shard_ratio")));
        const whole = parts.reduce((sum, part) => sum + part, 0);
        return Math.abs(whole - 1) < 1e-9 && parts.every((part) => part > 0) && parts;
      },
      { within, what: () => replicas.map(({ operator }) => operator.text).join("\n") },
    );
  }

  /** Gives all replicas the module, which works each object once: from here on runs are recorded anew. */
  async work(): Promise<void> {
    this.#records++;
    await this.#bench.write("controllers/item.ts", moduleOf(this.#file, this.#options));
  }

  /** Takes the module away. */
  async rest(): Promise<void> {
    await this.#bench.remove("controllers/item.ts");
    await until(
      async () => {
        const bodies = await Promise.all(
          this.replicas.map(async ({ operator }) => (await operator.health("/readyz?verbose")).body),
        );
        return bodies.every((body) => !body.includes("item.ts"));
      },
      { within: 30_000, what: "the module has left" },
    );
  }

  async runs(): Promise<readonly RecordedRun[]> {
    const text = await readFile(this.#file, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [key = "", turn, began, ended, pid] = line.split(" ");
        return { key, turn: Number(turn), began: Number(began), ended: Number(ended), pid: Number(pid) };
      });
  }

  /** Waits until so many keys have been worked. */
  async worked(count: number, within = 300_000): Promise<readonly RecordedRun[]> {
    return until(
      async () => {
        const runs = await this.runs();
        return new Set(runs.map(({ key }) => key)).size >= count && runs;
      },
      { within, every: 100, what: () => `${count} keys worked` },
    );
  }

  get #file(): string {
    return `${this.#bench.dir}/records-${this.#records}`;
  }

  async #each(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    await Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        while (next < count) await one(next++);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}

/** Pairs of runs of one key in two processes that overlap in time. */
export function overlaps(runs: readonly RecordedRun[]): readonly string[] {
  const overlapping: string[] = [];
  for (const [key, ofKey] of Map.groupBy(runs, (run) => run.key)) {
    const sorted = ofKey.toSorted((a, b) => a.began - b.began);
    for (let at = 1; at < sorted.length; at++) {
      const before = sorted[at - 1]!;
      const after = sorted[at]!;
      if (after.began < before.ended)
        overlapping.push(`${key}: ${JSON.stringify(before)} and ${JSON.stringify(after)}`);
    }
  }
  return overlapping;
}

function nameOf(index: number): string {
  return `item-${index}`;
}

/** Passes bytes on, below TLS, and counts those of the server. */
class CountingProxy implements AsyncDisposable {
  received = 0;
  readonly #server: Server;
  readonly #open = new Set<{ destroy(): void }>();

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const server = createConnection({ host: "127.0.0.1", port });
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#open.add(one);
        one.setNoDelay(true);
        one.on("error", () => {});
        one.on("close", () => {
          this.#open.delete(one);
          other.destroy();
        });
      }
      server.on("data", (bytes: Buffer) => (this.received += bytes.length));
      client.pipe(server);
      server.pipe(client);
    });
  }

  static async start(port: number): Promise<CountingProxy> {
    const proxy = new CountingProxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}
