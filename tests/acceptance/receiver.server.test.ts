/** The receiver of docs/plugins.md: two replicas, and a sender that reaches them as through a Service. */
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { blocksOf } from "../../scripts/house/check-readme.ts";

const page = await readFile(join(import.meta.dirname, "../../docs/plugins.md"), "utf8");
const ORDERS = "/apis/demo.example.com/v1/namespaces/default/orders";

describe.skipIf(!available)("docs/plugins.md", () => {
  test("a receiver behind a Service loses no message while the lead goes from replica to replica", async () => {
    await using cluster = await Cluster.start({ controllers: false });
    await using bench = await Bench.create();
    await using cleanup = new AsyncDisposableStack();
    const example = blocksOf(page).find(({ text }) => text.includes('source.named("shop/orders")'))!;
    await bench.write("controllers/order.ts", example.text);
    let state = "ordered";
    const shop = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(state) });
    cleanup.defer(() => shop.stop(true));
    const args = [
      "--install-crds",
      "--leader-elect",
      "--leader-election-id=orders",
      "--leader-election-namespace=default",
    ];
    const start = async () => {
      const operator = cleanup.use(await bench.run({ kubeconfig: cluster.kubeconfig, args }));
      await operator.ready();
      return operator;
    };
    const leader = await start();
    await until(async () => (await leader.metric("leader_election_master_status")) === 1, { what: "it leads" });
    const standby = await start();
    await cluster.send("POST", ORDERS, {
      body: {
        apiVersion: "demo.example.com/v1",
        kind: "Order",
        metadata: { name: "one" },
        spec: { shop: shop.url.origin },
      },
    });
    const shows = (what: string) => cluster.exists(`${ORDERS}/one`, ({ status }) => status?.["state"] === what);
    await shows("ordered");

    const message = { method: "POST" };
    const path = "/plugins/shop/default/one";
    const refused = await standby.send(path, message);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);

    /** Sends over one replica after the other, like a Service, until one has taken the message. */
    const deliver = (): Promise<true> => {
      const replicas = [standby, leader];
      return until<true>(
        async () => {
          replicas.push(replicas.shift()!);
          const answer = await replicas[0]!.send(path, message).catch(() => undefined);
          return answer?.status === 202;
        },
        { what: "the message is taken" },
      );
    };
    state = "paid";
    await deliver();
    await shows("paid");

    state = "sent";
    const delivered = deliver();
    const stopped = leader.stop();
    await delivered;
    await shows("sent");
    expect(await stopped).toBe(0);
    state = "arrived";
    await deliver();
    await shows("arrived");
  }, 180_000);
});
