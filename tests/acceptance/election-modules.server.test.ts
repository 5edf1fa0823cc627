/** Tests `--leader-elect=module`: each module has a Lease, so that replicas share the modules between them. */
import { describe, expect, test } from "bun:test";
import { Bench, type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const leaseOf = (module: string) => `/apis/coordination.k8s.io/v1/namespaces/default/leases/shop-${module}`;
const path = (kind: string) => `/apis/shop.binnacle.dev/v1/namespaces/default/${kind.toLowerCase()}s`;

/** Records in the status which process has seen the object last. */
const moduleOf = (kind: string) => `
import { defineController, defineResource, z } from "binnacle";
export const Kind = defineResource({ group: "shop.binnacle.dev", version: "v1", kind: "${kind}",
  spec: z.object({}), status: z.object({ by: z.int().optional() }) });
export const controller = defineController({ for: Kind,
  async reconcile(_, { status }) { status.set({ by: process.pid }); } });`;

describe.skipIf(!available)("leader election by module", () => {
  test("replicas share modules between them, and one takes over those of the other", async () => {
    await using cluster = await Cluster.start();
    await using bench = await Bench.create();
    for (const replica of ["a", "b"]) {
      await bench.write(`${replica}/cart.ts`, moduleOf("Cart"));
      await bench.write(`${replica}/order.ts`, moduleOf("Order"));
    }
    await using cleanup = new AsyncDisposableStack();
    const start = async (name: string): Promise<Operator> => {
      const elect = ["--leader-elect=module", "--leader-election-id=shop", "--leader-election-namespace=default"];
      const quick = [
        "--leader-election-lease-duration=4s",
        "--leader-election-renew-deadline=3s",
        "--leader-election-retry-period=1s",
      ];
      const args = [`--controllers=${name}`, "--install-crds", "--watch", ...elect, ...quick];
      const operator = cleanup.use(await bench.run({ kubeconfig: cluster.kubeconfig, args }));
      await operator.ready();
      return operator;
    };
    let count = 0;
    const worker = async (kind: string): Promise<number> => {
      const name = `one-${++count}`;
      const body = { apiVersion: "shop.binnacle.dev/v1", kind, metadata: { name }, spec: {} };
      await until(() => cluster.send("POST", path(kind), { body }).catch(() => undefined), {
        what: `${kind} is served`,
      });
      const { status } = await cluster.exists(`${path(kind)}/${name}`, (one) => one.status?.["by"] !== undefined);
      return Number(status!["by"]);
    };
    const leads = (operator: Operator, module: string): Promise<boolean> =>
      operator.metric("leader_election_master_status", { name: `shop-${module}` }).then((value) => value === 1);

    const a = await start("a");
    for (const module of ["cart", "order"]) await until(() => leads(a, module), { what: `a leads ${module}` });
    const b = await start("b");
    expect([await worker("Cart"), await worker("Order")]).toEqual([a.child.pid, a.child.pid]);
    const verbose = (await b.health("/readyz?verbose")).body;
    expect(verbose).toContain("leaderElection/shop-cart following");
    expect(verbose).toContain("leaderElection/shop-order following");
    expect((await b.health("/healthz?verbose")).body).toContain("[+]leaderElection ok");
    const metrics = await b.metrics();
    expect(metrics).toContain('leader_election_master_status{name="shop-cart"} 0');
    expect(metrics).toContain('leader_election_slowpath_total{name="shop-cart"} 0');

    // A module that leaves a replica releases its own Lease and no other.
    await bench.remove("a/order.ts");
    await until(() => leads(b, "order"), { what: "b leads order" });
    expect(await a.metrics()).not.toContain('name="shop-order"');
    expect([await worker("Cart"), await worker("Order")]).toEqual([a.child.pid, b.child.pid]);
    await bench.write("a/order.ts", moduleOf("Order"));
    await until(async () => (await a.health("/readyz?verbose")).body.includes("leaderElection/shop-order following"), {
      what: "a follows for order",
    });

    b.signal("SIGKILL");
    await until(() => leads(a, "order"), { what: "a leads order again", within: 90_000 });
    expect([await worker("Cart"), await worker("Order")]).toEqual([a.child.pid, a.child.pid]);
    expect(await a.stop()).toBe(0);
    for (const module of ["cart", "order"]) {
      expect((await cluster.get(leaseOf(module)))?.spec).toMatchObject({ holderIdentity: "" });
    }
  }, 240_000);
});
