/** Metrics of controllers, and what tests read of metrics and routes. */
import { expect, test } from "bun:test";
import { defineController, defineKeyController, definePlugin, source } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { Hono } from "hono";
import { eventually, runModule, startCluster } from "./index.ts";
import { seriesValue } from "./series-value.ts";

const shop = () =>
  defineController({
    name: "shop",
    for: ConfigMap,
    metrics: {
      shipped: { type: "counter", name: "shop_shipped_total", help: "Orders that left", labels: ["carrier"] },
      open: { type: "gauge", name: "shop_open", help: "Orders that wait" },
      size: { type: "histogram", name: "shop_size", help: "Parts of an order", buckets: [1, 10] },
    },
    daemons: { watch: async (_, { metrics }) => metrics.open.inc() },
    async reconcile({ metadata, data = {} }, { metrics }) {
      metrics.shipped.inc({ carrier: metadata.name });
      metrics.size.observe(Object.keys(data).length);
    },
  });

test("a controller has metrics of its own, which its runs and daemons write and tests read", async () => {
  await using cluster = await startCluster({ pods: false });
  await using module = await runModule(shop(), cluster);
  const create = (name: string) =>
    cluster.client.create(ConfigMap, { metadata: { namespace: "default", name }, data: { a: "1", b: "2" } });
  expect(await module.metric("shop_open")).toBeNumber();
  await create("post");
  await create("ship");
  await eventually(async () => expect(await module.metric("shop_shipped_total", { carrier: "ship" })).toBe(1));
  await module.idle();
  expect(await module.metric("shop_shipped_total", { carrier: "post" })).toBe(1);
  expect(await module.metric("shop_shipped_total", { carrier: "none" })).toBeUndefined();
  expect(await module.metric("shop_size_count")).toBe(await module.metric("shop_shipped_total"));
  expect(await module.metric("shop_size_bucket", { le: "10" })).toBe(await module.metric("shop_size_count"));
  expect(await module.metric("controller_runtime_reconcile_total", { controller: "shop", result: "error" })).toBe(0);
});

test("a key controller has metrics too, and a name that is taken keeps the module out", async () => {
  await using cluster = await startCluster({ pods: false });
  const ticks = defineKeyController({
    name: "ticks",
    metrics: { ticks: { type: "counter", name: "ticks_total", help: "Ticks" } },
    watches: [source.every("20ms")],
    async reconcile(_, { metrics }) {
      metrics.ticks.inc(2);
    },
  });
  await using module = await runModule(ticks, cluster);
  await eventually(async () => expect(await module.metric("ticks_total")).toBeGreaterThanOrEqual(4));
  const other = definePlugin({
    name: "other",
    setup: (registry) => void registry.counter({ name: "ticks_total", help: "Others" }),
  });
  await expect(runModule([ticks, other], cluster)).rejects.toThrow("ticks_total");
});

test("wrong metrics are refused by name, where they are declared and where they are written", async () => {
  const define = (metric: object) =>
    defineController({ for: ConfigMap, metrics: { wrong: metric as never }, async reconcile() {} });
  expect(() => define({ type: "timer", name: "a", help: "b" })).toThrow("option 'metrics'");
  await using cluster = await startCluster({ pods: false });
  await expect(runModule(define({ type: "counter", name: "shop", help: "b" }), cluster)).rejects.toThrow(
    "the name of a counter ends with _total",
  );
});

test("a test calls the routes of plugins, the checks, and reads all metrics", async () => {
  await using cluster = await startCluster({ pods: false });
  const orders = definePlugin({
    name: "orders",
    setup(registry) {
      registry.route(
        new Hono()
          .get("/count", (context) => context.text("3"))
          .post("/", async (context) => context.json({ took: await context.req.json() }, 202)),
      );
    },
  });
  await using module = await runModule([orders, shop()], cluster);
  expect(await (await module.fetch("/plugins/orders/count")).text()).toBe("3");
  const posted = await module.fetch("/plugins/orders/", { method: "POST", body: JSON.stringify({ a: 1 }) });
  expect([posted.status, await posted.json()]).toEqual([202, { took: { a: 1 } }]);
  expect((await module.fetch("/plugins/none/")).status).toBe(404);
  expect((await module.fetch("/healthz")).status).toBe(200);
  expect(await (await module.fetch("/metrics")).text()).toContain("# HELP shop_open Orders that wait");
});

test("seriesValue reads labels with escapes, and sums what has the labels", () => {
  const text = 'a{x="1",y="q\\"\\\\"} 2\na{x="1",y="z"} 3\nab{x="1"} 7\nb 1.5e3\nc +Inf\n';
  expect(seriesValue(text, "a", { x: "1" })).toBe(5);
  expect(seriesValue(text, "a", { y: 'q"\\' })).toBe(2);
  expect([seriesValue(text, "b"), seriesValue(text, "c"), seriesValue(text, "d")]).toEqual([1500, Infinity, undefined]);
});
