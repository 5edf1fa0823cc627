/** Replicas outside the cluster, whose webhooks the API server reaches at addresses of their own. */
import { describe, expect, test } from "bun:test";
import { Bench } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const CONFIGMAPS = "/api/v1/namespaces/default/configmaps";

const POLICY = `
import { defineWebhook, Denied } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const policy = defineWebhook({ for: ConfigMap, objectSelector: { matchLabels: { policy: "yes" } },
  validate({ data }) { if (data?.allowed !== "yes") throw new Denied("not allowed"); } });`;

describe.skipIf(!available)("webhooks of replicas outside the cluster", () => {
  test("are asked of the one that leads, in the namespace of the Lease too, and of the next one after kill -9", async () => {
    await using cluster = await Cluster.start({ controllers: false });
    await using bench = await Bench.create();
    await using cleanup = new AsyncDisposableStack();
    await bench.write("controllers/policy.ts", POLICY);
    const args = [
      "--webhook-host=127.0.0.1",
      "--webhook-bind-address=127.0.0.1:0",
      "--register-webhooks",
      "--leader-elect",
      "--leader-election-id=policy",
      "--leader-election-namespace=default",
      "--leader-election-lease-duration=4s",
      "--leader-election-renew-deadline=3s",
      "--leader-election-retry-period=500ms",
    ];
    const start = async () => {
      const operator = cleanup.use(await bench.run({ kubeconfig: cluster.kubeconfig, args }));
      await operator.ready();
      return operator;
    };
    let number = 0;
    const create = async (allowed: string): Promise<string> => {
      const metadata = { name: `c-${number++}`, labels: { policy: "yes" } };
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { allowed } };
      return cluster.send("POST", CONFIGMAPS, { body }).then(
        () => "created",
        (error: unknown) => String(error),
      );
    };
    const leader = await start();
    await until(async () => (await create("no")).includes("not allowed"), { what: "the leader's policy" });
    const follower = await start();
    expect(await create("yes")).toBe("created");
    leader.child.kill("SIGKILL");
    await leader.child.exited;
    // Nobody answers at the address that is registered.
    expect(await create("yes")).toContain("failed calling webhook");
    const began = performance.now();
    await until(async () => (await create("yes")) === "created", { what: "the follower is registered", every: 200 });
    expect(performance.now() - began).toBeLessThan(12_000);
    expect(await create("no")).toContain("not allowed");
    expect(await follower.stop()).toBe(0);
    expect(await create("no")).toBe("created"); // nobody is left, and nobody's registration
  }, 180_000);
});
