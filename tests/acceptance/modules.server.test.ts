/** Tests several modules in one binary: they share watches, and none harms another. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const CONFIGMAPS = "/api/v1/namespaces/default/configmaps";

/** Counts its own runs; its object makes it fail or be slow. */
const COUNTER = `
import { defineController, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
let runs = 0, errors = 0;
export const counter = defineController({
  name: "counter",
  for: watch(ConfigMap, { labels: "counter=yes" }),
  async reconcile(config, { log, attempt }) {
    runs++;
    if (config.data?.fail === "yes") { errors++; log.info("counted", { runs, errors, attempt }); throw new Error("asked to fail"); }
    log.info("counted", { runs, errors, attempt });
  },
});`;

const DEPLOYMENTS = `
import { defineController } from "binnacle";
import { Deployment } from "binnacle/resources";
export default defineController({ name: "deployment-reader", for: Deployment, async reconcile() {} });`;

const SECRETS = `
import { defineController, defineKeyController, source } from "binnacle";
import { Secret } from "binnacle/resources";
export const reader = defineKeyController({ name: "secret-reader", watches: [source.every("1s")], reads: [Secret],
  async reconcile(key, { client, log }) { log.info("read", { secrets: (await client.list(Secret)).length }); } });`;

describe.skipIf(!available)("modules", () => {
  let cluster: Cluster;
  let bench: Bench;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ controllers: false }), Bench.create()]);
    for (const name of ["guestbook", "pod-logger", "secret-mirror"]) await bench.example(name);
    const { stdout } = await bench.exec("manifests", "crds");
    await cluster.plane.apply(stdout);
    await cluster.kubectl("wait", "--for=condition=Established", "crd/guestbooks.demo.binnacle.dev", "--timeout=20s");
  }, 180_000);

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("share one watch per kind and set, also as modules come and go", async () => {
    const idle = await cluster.watches(); // the API server has watches of its own
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--watch"] });
    await operator.ready();
    const kinds = ["guestbooks", "deployments", "services", "secrets", "pods", "namespaces"];
    const counts = async (): Promise<Record<string, number>> => {
      const now = await cluster.watches();
      return Object.fromEntries(kinds.map((kind) => [kind, (now.get(kind) ?? 0) - (idle.get(kind) ?? 0)]));
    };
    const one = Object.fromEntries(kinds.map((kind) => [kind, 1]));
    expect(
      await until(async () => Bun.deepEquals(await counts(), one) && (await counts()), { what: "one watch each" }),
    ).toEqual(one);
    await bench.write("controllers/deployments.ts", DEPLOYMENTS);
    await bench.write("controllers/secrets.ts", SECRETS);
    await until(() => operator.log.some(({ msg }) => msg === "read"), {
      what: () => `the new module reads:\n${operator.text}`,
    });
    expect(await counts()).toEqual(one);
    await bench.remove("controllers/deployments.ts");
    await bench.remove("controllers/secrets.ts");
    await until(async () => !(await operator.metrics()).includes('controller="secret-reader"'), {
      what: "its metrics leave",
    });
    expect(await counts()).toEqual(one);
    expect(await operator.stop()).toBe(0);
  });

  test("fail alone: back-off, metrics, and a broken file beside", async () => {
    await bench.write("alone/counter.ts", COUNTER);
    await bench.write(
      "alone/other.ts",
      COUNTER.replaceAll("counter", "other").replace('labels: "other=yes"', 'labels: "other=yes"'),
    );
    await bench.write(
      "alone/broken.ts",
      'import { defineController } from "binnacle";\nexport const x = defineController({{',
    );
    await bench.write("alone/nothing.ts", "export const nothing = 1;");
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--controllers", "alone"] });
    await until(async () => (await operator.health("/readyz/controllers")).body.includes("has never run"), {
      what: () => `a broken module is told:\n${operator.text}`,
    });
    const verbose = (await operator.health("/readyz?verbose")).body;
    expect(verbose).toContain("broken");
    expect(verbose).toContain("nothing");
    expect(operator.text).toContain("broken.ts");
    expect(await operator.metric("binnacle_module_state", { module: "broken.ts", state: "broken" })).toBe(1);

    await cluster.send("POST", CONFIGMAPS, {
      body: { metadata: { name: "bad", labels: { counter: "yes" } }, data: { fail: "yes" } },
    });
    const failures = () =>
      operator.log.filter(({ msg, controller }) => msg === "Reconcile failed" && controller === "counter");
    await until(() => failures().length >= 8, { what: "8 failures" });
    const times = failures().map(({ ts }) => Date.parse(String(ts)));
    const gaps = times.slice(1, 8).map((time, index) => time - times[index]!);
    // The delays are 5, 10, 20, 40, 80, 160, 320 ms: each is at least that, and their sum is far from the longest delay.
    gaps.forEach((gap, index) => expect(gap).toBeGreaterThanOrEqual(5 * 2 ** index - 2));
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBeLessThan(10_000);

    await cluster.send("POST", CONFIGMAPS, { body: { metadata: { name: "fine", labels: { other: "yes" } } } });
    await until(() => operator.log.some(({ msg, controller }) => msg === "counted" && controller === "other"), {
      what: "the neighbour works",
    });
    await cluster.patch(`${CONFIGMAPS}/bad`, { data: { fail: "no" } });
    await until(
      async () =>
        (await operator.metric("controller_runtime_reconcile_total", { controller: "counter", result: "success" })) ===
        1,
      { what: "success" },
    );

    // The metrics agree with what the module counted itself.
    const counted = await until(
      () => operator.log.findLast(({ msg, controller }) => msg === "counted" && controller === "counter"),
      { what: "the line of the run that succeeded" },
    );
    const families = parsePrometheusTextFormat(await operator.metrics());
    const value = (name: string, labels: Record<string, string>): number =>
      (families.find((family) => family.name === name)?.metrics ?? [])
        .filter((metric) => Object.entries(labels).every(([label, wanted]) => metric.labels?.[label] === wanted))
        .reduce((sum, metric) => sum + Number((metric as { value?: string }).value ?? 0), 0);
    expect(value("controller_runtime_reconcile_total", { controller: "counter" })).toBe(counted["runs"] as number);
    expect(value("controller_runtime_reconcile_errors_total", { controller: "counter" })).toBe(
      counted["errors"] as number,
    );
    expect(value("controller_runtime_reconcile_errors_total", { controller: "other" })).toBe(0);
    expect(value("workqueue_depth", { controller: "counter" })).toBe(0);
    expect(value("rest_client_requests_total", { method: "GET", code: "200" })).toBeGreaterThan(0);
    expect(await operator.stop()).toBe(0);
  });

  test("one that fails too often is parked, and an event of its object frees it", async () => {
    await bench.example("pod-logger", "parked");
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--controllers", "parked"] });
    await operator.ready();
    const pod = {
      metadata: { name: "p", annotations: { "pod-logger/fail": "true" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    };
    await cluster.send("POST", "/api/v1/namespaces/default/pods", { body: pod });
    await until(() => operator.log.some(({ msg }) => msg.startsWith("Parked after 6 failures")), {
      what: () => `parked:\n${operator.text}`,
    });
    expect(await operator.metric("binnacle_queue_parked", { controller: "pod-logger" })).toBe(1);
    const events = await until(
      async () => {
        const list = await cluster.get("/apis/events.k8s.io/v1/namespaces/default/events");
        return list?.items?.some((event) => (event as unknown as { reason: string }).reason === "ReconcileParked");
      },
      { what: "an Event that says so" },
    );
    expect(events).toBe(true);
    await cluster.kubectl("annotate", "pod", "p", "pod-logger/fail-");
    await until(() => operator.log.some(({ msg }) => msg === "Sync of pod p"), { what: "a sync after the change" });
    expect(await operator.metric("binnacle_queue_parked", { controller: "pod-logger" })).toBe(0);
    expect(await operator.stop()).toBe(0);
  });

  test("/readyz is 500 before the caches have synced, and 200 after", async () => {
    const seen: number[] = [];
    // The module loads so slowly that a probe comes first.
    const slow = `await new Promise((resolve) => setTimeout(resolve, 500));
import { defineController } from "binnacle";
import { Namespace } from "binnacle/resources";
export const slow = defineController({ name: "slow", for: Namespace, async reconcile() {} });`;
    await bench.write("controllers/slow.ts", slow);
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await until(
      async () => {
        const { status } = await operator.health("/readyz");
        if (status !== 0) seen.push(status);
        return status === 200;
      },
      { what: "ready", every: 0 },
    );
    expect(new Set(seen)).toEqual(new Set([500, 200]));
    expect(await operator.stop()).toBe(0);
  });
});
