/** Tests the end of the process: runs finish, and a second signal does not wait for them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { Bench } from "../support/binary.ts";
import { isOnDeno } from "../support/program.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const SLOW = `
import { defineController, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const slow = defineController({
  name: "slow",
  for: watch(ConfigMap, { labels: "slow=yes" }),
  uses: [],
  async reconcile(config, { log }) {
    log.info("begins");
    await new Promise((resolve) => setTimeout(resolve, Number(config.data?.milliseconds ?? 1500)));
    log.info("ends");
  },
});`;

/** Its module is the first to need an informer in whose kind nothing happens. */
const READING = `
import { definePlugin } from "binnacle";
import { PriorityClass } from "binnacle/resources";
export const reader = definePlugin({ name: "reader", reads: [PriorityClass], setup() {} });`;

describe.skipIf(!available)("signals", () => {
  let cluster: Cluster;
  let bench: Bench;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ controllers: false }), Bench.create()]);
    await bench.write("controllers/slow.ts", SLOW);
    await bench.write("reading/reader.ts", READING);
    await cluster.send("POST", "/api/v1/namespaces/default/configmaps", {
      body: { metadata: { name: "s", labels: { slow: "yes" } } },
    });
  }, 180_000);

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("SIGTERM lets a slow reconcile finish, then exits 0 without an error", async () => {
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await until(() => operator.log.some(({ msg }) => msg === "begins"), { what: "a run", every: 5 });
    // It is still the process that was started, although on Bun it restarted itself without the last of the compilers.
    const environment = await readFile(`/proc/${operator.child.pid}/environ`, "utf8").catch(() => undefined);
    if (environment !== undefined && !isOnDeno) expect(environment.split("\0")).toContain("BUN_JSC_useFTLJIT=0");
    operator.signal();
    await until(async () => (await operator.health("/readyz")).status === 500, {
      what: "not ready while it stops",
      every: 5,
    });
    expect(await operator.child.exited).toBe(0);
    await until(() => operator.log.some(({ msg }) => msg === "ends"), { what: "the line of a run that ended" });
    expect(operator.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a second SIGTERM exits at once", async () => {
    // The run outlasts the time in which the same signal counts once, on however slow a machine.
    await cluster.patch("/api/v1/namespaces/default/configmaps/s", { data: { milliseconds: "60000" } });
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await until(() => operator.log.some(({ msg }) => msg === "begins"), { what: "a run", every: 5 });
    operator.signal();
    await until(() => operator.log.some(({ msg }) => msg.startsWith("Stopping")), {
      what: "the first signal is heard",
      every: 5,
    });
    await until(
      () => {
        if (operator.child.exitCode === null) operator.signal();
        return operator.child.exitCode !== null;
      },
      { what: "another signal ends it", every: 50 },
    );
    expect(await operator.child.exited).toBe(1);
    expect(operator.log.some(({ msg }) => msg === "ends")).toBe(false);
    await cluster.patch("/api/v1/namespaces/default/configmaps/s", { data: { milliseconds: "0" } });
  });

  test("SIGINT is the same as SIGTERM", async () => {
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await operator.ready();
    operator.signal("SIGINT");
    expect(await operator.child.exited).toBe(0);
  });

  test("SIGTERM ends a process at once although a watch of a plugin is open in which nothing happens", async () => {
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--controllers", "reading"] });
    await operator.ready();
    const began = performance.now();
    operator.signal();
    expect(await operator.child.exited).toBe(0);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
