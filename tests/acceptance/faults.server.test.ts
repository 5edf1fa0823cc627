/**
 * Tests a network and an API server that fail in every way: the runtime recovers by itself, soon, and without a herd
 * of requests.
 *
 * `FAULT_SECONDS=120 bun test tests/acceptance/faults.server.test.ts` refuses connections for longer than the test run
 * does.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { compact } from "../../scripts/controlplane/compact.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { InProcess } from "../support/integration/in-process.ts";
import { Behaviours, Box, BOXES, boxController } from "../support/integration/lab.ts";
import { available, Cluster } from "../support/cluster.ts";

const seconds = Number(process.env["FAULT_SECONDS"] ?? 4);

describe.skipIf(!available)("faults of the network", () => {
  const behaviours = new Behaviours();
  const controller = boxController(behaviours);
  let cluster: Cluster;
  let proxy: TcpProxy;
  let operator: InProcess;

  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
    proxy = await TcpProxy.start(cluster.plane.url);
    const kubeconfig = `${cluster.kubeconfig}-proxied`;
    const direct = await readFile(cluster.kubeconfig, "utf8");
    await writeFile(kubeconfig, direct.replace(cluster.plane.url, proxy.url));
    operator = await InProcess.start({
      cluster: await loadKubeconfig({ kubeconfig, env: {} }),
      definitions: [Box, controller],
    });
    behaviours.set("one", async (box, { status }) => status.set({ turn: box.spec.turn }));
    await cluster.send("POST", BOXES, {
      body: { apiVersion: Box.apiVersion, kind: "Box", metadata: { name: "one" }, spec: {} },
    });
    await turned(0);
  }, 180_000);

  afterAll(async () => {
    const began = performance.now();
    await operator[Symbol.asyncDispose]();
    console.log(`stopped in ${Math.round(performance.now() - began)} ms`);
    await proxy[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  }, 180_000);

  let turn = 0;

  /** Changes the object behind the proxy's back. */
  const change = () => cluster.patch(`${BOXES}/one`, { spec: { turn: ++turn } });

  /** Waits until the change was reconciled and its status written. @returns the milliseconds */
  async function turned(to: number, within = 60_000): Promise<number> {
    const began = performance.now();
    await cluster.exists(`${BOXES}/one`, ({ status }) => status?.["turn"] === to, within);
    return Math.round(performance.now() - began);
  }

  test("connections half-open for ever are noticed, and reconciling goes on", async () => {
    proxy.halfOpen();
    await change();
    const took = await turned(turn);
    console.log(`half-open: reconciled after ${took} ms`);
    expect(took).toBeLessThan(30_000); // 9 s on a quiet machine
  }, 180_000);

  test(
    `refused for ${seconds} s: at work within 5 s of the return`,
    async () => {
      await proxy.refuse();
      await change();
      await Bun.sleep(seconds * 1_000);
      await proxy.listen();
      const took = await turned(turn);
      console.log(`refused for ${seconds} s: reconciled after ${took} ms`);
      expect(took).toBeLessThan(15_000); // 2 s on a quiet machine
    },
    (seconds + 180) * 1_000,
  );

  test("answers cut in the middle lose nothing", async () => {
    for (const truncateAfter of [1, 300, 2_000]) {
      proxy.inject({ truncateAfter });
      await change();
      await Bun.sleep(200);
      proxy.inject();
      await turned(turn);
    }
  }, 180_000);

  test("a slow network delays and loses nothing", async () => {
    proxy.inject({ delay: 300 });
    await change();
    const took = await turned(turn);
    proxy.inject();
    expect(took).toBeGreaterThan(300);
  }, 180_000);

  test("a cut every now and then: no more lists, since the watch goes on from its version", async () => {
    const lists = () => cluster.requests({ verb: "LIST", resource: "boxes" });
    const before = await lists();
    for (let round = 0; round < 3; round++) {
      proxy.cut();
      await change();
      await turned(turn);
    }
    expect(await lists()).toBe(before);
  }, 180_000);

  test("a history that etcd has compacted is listed again exactly once", async () => {
    await proxy.refuse();
    for (let round = 0; round < 3; round++) await change();
    await compact(cluster.plane);
    // The server remembers changes too; after a restart it has none from before.
    await cluster.plane.restart("kube-apiserver");
    await proxy.listen();
    await turned(turn);
    await change();
    await turned(turn, 5_000);
    expect(await cluster.requests({ verb: "LIST", resource: "boxes" })).toBe(1);
  }, 180_000);
});
