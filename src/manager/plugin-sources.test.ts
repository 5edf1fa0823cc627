/** What a source of a plugin does with keys that another replica works. */
import { afterEach, expect, test } from "bun:test";
import {
  defineController,
  defineKeyController,
  definePlugin,
  defineResource,
  type PluginSource,
  source,
  TryElsewhere,
  z,
} from "binnacle";
import { Hono } from "hono";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import { until } from "../../tests/support/until.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { startCluster, type TestCluster } from "../testing/index.ts";
import { Manager } from "./manager.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const Order = defineResource({ group: "shop.example.com", version: "v1", kind: "Order", spec: z.object({}) });

interface Replica {
  readonly name: string;
  readonly manager: Manager;
  /** Those with the cause that is the source. */
  readonly runs: string[];
  readonly told: PluginSource;
  /** Tells the replica of an order as a sender does. */
  readonly tell: (kind: "orders" | "customers", name: string) => Promise<Response>;
}

async function replica(
  cluster: TestCluster,
  { name, by }: { readonly name: string; readonly by: "election" | "shards" | "nothing" },
): Promise<Replica> {
  const runs: string[] = [];
  const shared = { ...defaultDurations, id: "shop", namespace: "default", release: true, identity: name };
  const manager = new Manager({
    cluster: cluster.config,
    log: createLog({ level: "error", format: "json", write: () => {} }),
    settings: { "health-probe-bind-address": "127.0.0.1:0", "install-crds": true, "grace-period": 100 },
    isolate: false,
    election: by === "election" ? { ...shared, mode: "process" } : undefined,
    sharding: by === "shards" ? { ...shared, seats: 4 } : undefined,
  });
  cleanup.defer(() => manager.stop());
  let told: PluginSource | undefined;
  const heard = (key: string, causes: readonly { readonly source: string }[]): void => {
    if (causes.some(({ source: from }) => from.startsWith("shop/"))) runs.push(key);
  };
  const definitions = collectDefinitions([
    Order,
    defineController({
      for: Order,
      watches: [source.named("shop/orders")],
      async reconcile({ metadata }, { causes }) {
        heard(metadata.name, causes);
      },
    }),
    defineKeyController({
      name: "customers",
      watches: [source.named("shop/customers")],
      async reconcile(key, { causes }) {
        heard(key.name, causes);
      },
    }),
    definePlugin({
      name: "shop",
      setup(registry) {
        const sources = { orders: (told = registry.source("orders")), customers: registry.source("customers") };
        const app = new Hono().post("/:kind/:name", (context) => {
          const { kind, name: key } = context.req.param();
          sources[kind as "orders" | "customers"].enqueue({ namespace: "default", name: key });
          return context.body(null, 202);
        });
        registry.route(app);
      },
    }),
  ]);
  await manager.start();
  await manager.add({ name: "shop.ts", file: "shop.ts", definitions, invoke: (fn) => fn(), dispose() {} });
  manager.loaded();
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  const tell = (kind: "orders" | "customers", key: string): Promise<Response> =>
    fetch(`http://${manager.address("health-probe")}/plugins/shop/${kind}/${key}`, { method: "POST" });
  return { name, manager, runs, told: told!, tell };
}

const create = (cluster: TestCluster, name: string) =>
  cluster.client.create(Order, { metadata: { namespace: "default", name }, spec: {} });

test("a key that only the leader works is refused by the others, and the sender is told when to try again", async () => {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const leader = await replica(cluster, { name: "a", by: "election" });
  await until(() => leader.manager.elections!.isLeader);
  const standby = await replica(cluster, { name: "b", by: "election" });
  await create(cluster, "one");
  const refused = await standby.tell("orders", "one");
  expect([refused.status, refused.headers.get("retry-after"), await refused.text()]).toEqual([
    503,
    "2",
    "503 this replica does not work the key: try again\n",
  ]);
  expect(standby.told.takes({ namespace: "default", name: "one" })).toBe(false);
  expect(() => standby.told.enqueue({ namespace: "default", name: "one" })).toThrow(TryElsewhere);
  expect(leader.told.takes({ namespace: "default", name: "one" })).toBe(true);
  expect((await leader.tell("orders", "one")).status).toBe(202);
  expect((await leader.tell("customers", "eve")).status).toBe(202);
  await until(() => leader.runs.length === 2);
  // Whoever hands over takes nothing any more, and who follows does.
  await leader.manager.stop();
  await until(async () => (await standby.tell("orders", "one")).status === 202);
  await until(() => standby.runs.includes("one"));
}, 60_000);

test("keys that replicas divide are taken by the one that works them, and by no other", async () => {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const replicas = [
    await replica(cluster, { name: "a", by: "shards" }),
    await replica(cluster, { name: "b", by: "shards" }),
  ];
  const names = Array.from({ length: 12 }, (_, index) => `o-${index}`);
  for (const name of names) await create(cluster, name);
  for (const kind of ["orders", "customers"] as const) {
    for (const name of names) {
      const takers = await until(async () => {
        const statuses = await Promise.all(replicas.map(async (one) => (await one.tell(kind, name)).status));
        return statuses.includes(202) && statuses.includes(503) && statuses;
      });
      const { runs } = replicas[takers.indexOf(202)]!;
      await until(() => runs.includes(name));
    }
  }
  const worked = replicas.map(({ runs }) => new Set(runs).size);
  expect(worked.every((count) => count > 0)).toBe(true);
}, 60_000);

test("keys for which no controller runs are refused, and without replicas every key is taken", async () => {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const only = await replica(cluster, { name: "a", by: "nothing" });
  expect((await only.tell("customers", "eve")).status).toBe(202);
  await until(() => only.runs.includes("eve"));
  only.manager.modules.quiesce();
  expect(() => only.told.enqueue({ name: "late" })).toThrow(
    "Cannot enqueue for 'shop/orders': no controller that names the source is running",
  );
});
