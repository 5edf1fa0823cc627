import { describe, expect, test } from "bun:test";
import parse, { type ParsedFamily, type ParsedMetric } from "parse-prometheus-text-format";
import { createMetrics, type Metrics } from "./metrics.ts";

async function read(metrics: Metrics): Promise<Map<string, ParsedFamily>> {
  const { body, contentType } = await metrics.text();
  expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  return new Map(parse(body).map((family) => [family.name, family]));
}

/** Maps `label=value,…`, ordered by the labels' names, to the value. */
function valuesOf(family: ParsedFamily | undefined): Record<string, number> {
  return Object.fromEntries((family?.metrics ?? []).map((metric) => [labelsOf(metric), Number(metric.value)]));
}

function labelsOf({ labels = {} }: ParsedMetric): string {
  const names = Object.keys(labels).sort();
  return names.map((name) => `${name}=${labels[name]}`).join(",");
}

test("daemons of one name are counted together, those of an old version that end too", async () => {
  const metrics = createMetrics();
  const old = metrics.daemon({ controller: "sensor", daemon: "follow" });
  old.readFrom(() => ({ running: 1, waiting: 0, backingOff: 0, stuck: 1 }));
  old.failed();
  using next = metrics.daemon({ controller: "sensor", daemon: "follow" });
  next.readFrom(() => ({ running: 4, waiting: 3, backingOff: 2, stuck: 0 }));
  const labels = (state: string) => `controller=sensor,daemon=follow,state=${state}`;
  const states = async () => valuesOf((await read(metrics)).get("binnacle_daemons"));
  expect(await states()).toEqual({
    [labels("running")]: 5,
    [labels("waiting")]: 3,
    [labels("backing-off")]: 2,
    [labels("stuck")]: 1,
  });
  old[Symbol.dispose]();
  old[Symbol.dispose]();
  expect((await states())[labels("running")]).toBe(4);
  const failures = valuesOf((await read(metrics)).get("binnacle_daemon_failures_total"));
  expect(failures).toEqual({ "controller=sensor,daemon=follow": 1 });
});

describe("controller", () => {
  test("metrics of a controller start at 0 with controller-runtime's names", async () => {
    const metrics = createMetrics();
    using _controller = metrics.controller({ controller: "guestbook", concurrency: 4 });
    const families = await read(metrics);
    expect(valuesOf(families.get("controller_runtime_reconcile_total"))).toEqual({
      "controller=guestbook,result=error": 0,
      "controller=guestbook,result=requeue": 0,
      "controller=guestbook,result=requeue_after": 0,
      "controller=guestbook,result=success": 0,
    });
    for (const name of [
      "controller_runtime_reconcile_errors_total",
      "controller_runtime_terminal_reconcile_errors_total",
      "controller_runtime_reconcile_panics_total",
      "controller_runtime_reconcile_timeouts_total",
      "controller_runtime_active_workers",
      "binnacle_controller_stuck_runs",
    ]) {
      expect([name, valuesOf(families.get(name))]).toEqual([name, { "controller=guestbook": 0 }]);
    }
    expect(valuesOf(families.get("controller_runtime_max_concurrent_reconciles"))).toEqual({
      "controller=guestbook": 4,
    });
    const [seconds] = families.get("controller_runtime_reconcile_time_seconds")!.metrics;
    const bounds =
      "0.005,0.01,0.025,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.6,0.7,0.8,0.9,1,1.25,1.5,1.75,2,2.5,3,3.5,4,4.5," +
      "5,6,7,8,9,10,15,20,25,30,40,50,60,+Inf";
    expect(Object.keys(seconds!.buckets!).toSorted()).toEqual(bounds.split(",").toSorted());
  });

  test("metrics count what a controller did", async () => {
    const metrics = createMetrics();
    using controller = metrics.controller({ controller: "a", concurrency: 1 });
    controller.success(0.005);
    controller.success(0.0051);
    controller.requeueAfter(61);
    controller.error(1);
    controller.terminal();
    controller.panic();
    controller.timeout();
    controller.active(1);
    controller.active(1);
    controller.active(-1);
    controller.stuck(2);
    const families = await read(metrics);
    expect(valuesOf(families.get("controller_runtime_reconcile_total"))).toEqual({
      "controller=a,result=error": 1,
      "controller=a,result=requeue": 0,
      "controller=a,result=requeue_after": 1,
      "controller=a,result=success": 2,
    });
    expect(valuesOf(families.get("controller_runtime_reconcile_errors_total"))).toEqual({ "controller=a": 1 });
    expect(valuesOf(families.get("controller_runtime_terminal_reconcile_errors_total"))).toEqual({ "controller=a": 1 });
    expect(valuesOf(families.get("controller_runtime_active_workers"))).toEqual({ "controller=a": 1 });
    expect(valuesOf(families.get("binnacle_controller_stuck_runs"))).toEqual({ "controller=a": 2 });
    const [seconds] = families.get("controller_runtime_reconcile_time_seconds")!.metrics;
    const { body } = await metrics.text();
    expect(body).toContain('controller_runtime_reconcile_time_seconds_count{controller="a"} 4\n');
    expect(body).toContain('controller_runtime_reconcile_time_seconds_sum{controller="a"} 62.0101\n');
    const { buckets } = seconds!;
    // Buckets are cumulative, and a value on the bound belongs to its bucket.
    expect([
      buckets!["0.005"],
      buckets!["0.01"],
      buckets!["0.9"],
      buckets!["1"],
      buckets!["60"],
      buckets!["+Inf"],
    ]).toEqual(["1", "2", "2", "3", "3", "4"]);
  });

  test("metrics of a controller leave with it, and stay while another of its name is there", async () => {
    const metrics = createMetrics();
    const old = metrics.controller({ controller: "a", concurrency: 1 });
    old.success(1);
    old.active(1);
    const next = metrics.controller({ controller: "a", concurrency: 2 });
    old[Symbol.dispose]();
    old[Symbol.dispose]();
    let families = await read(metrics);
    expect(valuesOf(families.get("controller_runtime_reconcile_total"))["controller=a,result=success"]).toBe(1);
    expect(valuesOf(families.get("controller_runtime_active_workers"))).toEqual({ "controller=a": 0 });
    expect(valuesOf(families.get("controller_runtime_max_concurrent_reconciles"))).toEqual({ "controller=a": 2 });
    next[Symbol.dispose]();
    families = await read(metrics);
    expect([...families.keys()].filter((name) => name.startsWith("controller_runtime"))).not.toBeEmpty();
    expect((await metrics.text()).body).not.toContain('controller="a"');
  });
});

describe("queue", () => {
  test("metrics of a queue have client-go's names, labels and buckets", async () => {
    const metrics = createMetrics();
    using queue = metrics.queue({ name: "a" });
    queue.added();
    queue.added();
    queue.taken(1e-8);
    queue.taken(5000);
    queue.done(0.5);
    queue.retried();
    queue.readFrom(() => ({
      depth: [
        [0, 3],
        [-100, 7],
      ],
      unfinishedSeconds: 1.5,
      longestRunningSeconds: 1,
      parked: 2,
      failing: 4,
      longestFailingSeconds: 61,
    }));
    const families = await read(metrics);
    expect(valuesOf(families.get("workqueue_depth"))).toEqual({
      "controller=a,name=a,priority=0": 3,
      "controller=a,name=a,priority=-100": 7,
    });
    expect(valuesOf(families.get("workqueue_adds_total"))).toEqual({ "controller=a,name=a": 2 });
    expect(valuesOf(families.get("workqueue_retries_total"))).toEqual({ "controller=a,name=a": 1 });
    expect(valuesOf(families.get("workqueue_unfinished_work_seconds"))).toEqual({ "controller=a,name=a": 1.5 });
    expect(valuesOf(families.get("workqueue_longest_running_processor_seconds"))).toEqual({ "controller=a,name=a": 1 });
    expect(valuesOf(families.get("binnacle_queue_parked"))).toEqual({ "controller=a,name=a": 2 });
    expect(valuesOf(families.get("binnacle_queue_failing"))).toEqual({ "controller=a,name=a": 4 });
    expect(valuesOf(families.get("binnacle_queue_longest_failing_seconds"))).toEqual({ "controller=a,name=a": 61 });
    const [waited] = families.get("workqueue_queue_duration_seconds")!.metrics;
    expect(waited!.buckets).toMatchObject({ "1e-8": "1", "0.000001": "1", "1000": "1", "+Inf": "2" });
    expect(Object.keys(waited!.buckets!)).toHaveLength(13);
    const [worked] = families.get("workqueue_work_duration_seconds")!.metrics;
    expect(worked!.buckets).toMatchObject({ "0.1": "0", "1": "1", "+Inf": "1" });
  });

  test("PQ-21 as many priorities have a depth of their own as the limit says, whether 0 is one of them or not", async () => {
    const metrics = createMetrics();
    const depthsOf = async (first: number, count: number) => {
      const queue = metrics.queue({ name: "a" });
      const depth = Array.from({ length: count }, (_, index): [number, number] => [first + index, 1]);
      queue.readFrom(() => ({
        depth,
        unfinishedSeconds: 0,
        longestRunningSeconds: 0,
        parked: 0,
        failing: 0,
        longestFailingSeconds: 0,
      }));
      const depths = valuesOf((await read(metrics)).get("workqueue_depth"));
      queue[Symbol.dispose]();
      return depths;
    };
    const others = "controller=a,name=a,priority=exceeded_cardinality_limit";
    expect(Object.keys(await depthsOf(0, 25))).toHaveLength(25);
    expect((await depthsOf(0, 26))[others]).toBe(1);
    const without0 = await depthsOf(1, 25);
    expect(without0[others]).toBeUndefined();
    expect([without0["controller=a,name=a,priority=25"], Object.keys(without0).length]).toEqual([1, 26]);
    expect((await depthsOf(1, 26))[others]).toBe(1);
  });

  test("metrics of a queue show a depth of 0 for priorities that are empty now, and name at most 25", async () => {
    const metrics = createMetrics();
    const queue = metrics.queue({ name: "a" });
    let depth: [number, number][] = Array.from({ length: 40 }, (_, priority) => [priority, 1]);
    queue.readFrom(() => ({
      depth,
      unfinishedSeconds: 0,
      longestRunningSeconds: 0,
      parked: 0,
      failing: 0,
      longestFailingSeconds: 0,
    }));
    let depths = valuesOf((await read(metrics)).get("workqueue_depth"));
    expect(Object.keys(depths)).toHaveLength(26);
    expect(depths["controller=a,name=a,priority=exceeded_cardinality_limit"]).toBe(15);
    depth = [];
    depths = valuesOf((await read(metrics)).get("workqueue_depth"));
    expect(Object.keys(depths)).toHaveLength(26);
    expect(new Set(Object.values(depths))).toEqual(new Set([0]));
    queue[Symbol.dispose]();
    expect((await metrics.text()).body).not.toContain('name="a"');
  });
});

describe("others", () => {
  test("MET-02 metrics count requests by code, method and host", async () => {
    const metrics = createMetrics({ host: "127.0.0.1:6443" });
    expect((await read(metrics)).get("rest_client_requests_total")?.type).toBe("COUNTER");
    metrics.requests.observe("GET", "200");
    metrics.requests.observe("GET", "200");
    metrics.requests.observe("POST", "<error>");
    expect(valuesOf((await read(metrics)).get("rest_client_requests_total"))).toEqual({
      "code=200,host=127.0.0.1:6443,method=GET": 2,
      "code=<error>,host=127.0.0.1:6443,method=POST": 1,
    });
  });

  test("metrics count Events that were not sent, by reason", async () => {
    const metrics = createMetrics();
    metrics.eventDropped("rate");
    const dropped = valuesOf((await read(metrics)).get("binnacle_events_dropped_total"));
    expect([dropped["reason=rate"], dropped["reason=full"]]).toEqual([1, 0]);
  });

  test("metrics tell of the process", async () => {
    const families = await read(createMetrics());
    const value = (name: string) => Number(families.get(name)?.metrics[0]?.value);
    expect(value("process_cpu_seconds_total")).toBeGreaterThan(0);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(value("process_start_time_seconds")).toBeWithin(Date.now() / 1000 - 3600, Date.now() / 1000 + 1);
    expect(value("nodejs_heap_size_used_bytes")).toBeGreaterThan(0);
    expect(value("nodejs_eventloop_lag_seconds")).toBeGreaterThan(0);
    if (process.platform === "linux") {
      expect(value("process_open_fds")).toBeGreaterThan(2);
      expect(value("process_max_fds")).toBeGreaterThan(2);
      expect(value("process_virtual_memory_bytes")).toBeGreaterThan(10_000_000);
    }
  });

  test("add refuses names that are taken or not well formed, and isolates what throws", async () => {
    const metrics = createMetrics();
    const info = { help: "Orders", type: "counter" as const };
    const added = metrics.add({ name: "shop_orders_total", ...info, read: () => [{ labels: {}, value: 5 }] });
    expect(() => metrics.add({ name: "shop_orders_total", ...info, read: () => [] })).toThrow(
      "a metric with that name exists",
    );
    expect(() => metrics.add({ name: "shop-orders", ...info, read: () => [] })).toThrow(
      "'shop-orders': its name takes",
    );
    metrics.add({
      name: "broken",
      help: "Throws",
      read: () => {
        throw new Error("no");
      },
    });
    const families = await read(metrics);
    expect(families.get("shop_orders_total")).toMatchObject({ type: "COUNTER", metrics: [{ value: "5" }] });
    added[Symbol.dispose]();
    expect((await read(metrics)).has("shop_orders_total")).toBe(false);
  });
});

describe("OpenMetrics", () => {
  const accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";

  test("text answers OpenMetrics when it is preferred, and the other one unchanged afterwards", async () => {
    const metrics = createMetrics();
    using controller = metrics.controller({ controller: "a", concurrency: 1 });
    controller.error(1);
    const { body, contentType } = await metrics.text(accept);
    expect(contentType).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(body).toEndWith("\n# EOF\n");
    expect(body).toContain("\n# TYPE controller_runtime_reconcile_errors counter\n");
    expect(body).toContain('\ncontroller_runtime_reconcile_errors_total{controller="a"} 1\n');
    expect(body).toContain('controller_runtime_reconcile_time_seconds_bucket{le="1",controller="a"} 1\n');
    expect(body).not.toMatch(/\n\n|_total_total/);
    const text = await read(metrics);
    expect(valuesOf(text.get("controller_runtime_reconcile_errors_total"))).toEqual({ "controller=a": 1 });
  });

  test.each([undefined, "*/*", "text/plain", "text/plain;q=0.9,application/openmetrics-text;q=0.1"])(
    "text answers Prometheus text to %p",
    async (header) => {
      expect((await createMetrics().text(header)).contentType).toStartWith("text/plain");
    },
  );
});
