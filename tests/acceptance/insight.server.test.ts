/** What the commands tell of a running process, on a real cluster: a chain of three controllers, and a parked key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const MODULE = `
import { conditions, defineController, defineResource, of, TerminalError, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";

const kind = (kind: "Shop" | "Floor" | "Room") =>
  defineResource({
    group: "chain.example.com",
    version: "v1",
    kind,
    spec: z.object({ size: z.int() }),
    status: z.object({ conditions: conditions("Ready") }),
  });
export const Shop = kind("Shop");
export const Floor = kind("Floor");
export const Room = kind("Room");

export const shop = defineController({
  for: Shop,
  owns: [Floor],
  async reconcile({ metadata: { name }, spec: { size } }, { children, status }) {
    if (size < 0) throw new TerminalError("a shop needs a size");
    await children.sync({ floor: of(Floor, { metadata: { name }, spec: { size: size * 2 } }) });
    status.condition({ type: "Ready", status: true, reason: "Made" });
  },
});
export const floor = defineController({
  for: Floor,
  owns: [Room],
  async reconcile({ metadata: { name }, spec: { size } }, { children }) {
    await children.sync({ room: of(Room, { metadata: { name }, spec: { size: size + 1 } }) });
  },
});
export const room = defineController({
  for: Room,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { size } }, { children }) {
    await children.sync({ sign: of(ConfigMap, { metadata: { name }, data: { size: String(size) } }) });
  },
});
`;

describe.skipIf(!available)("insight", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;
  let address: string;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start(), Bench.create()]);
    await bench.write("controllers/chain.ts", MODULE);
    operator = await bench.run({
      kubeconfig: cluster.kubeconfig,
      args: ["--install-crds", "--debug-bind-address", "127.0.0.1:0"],
    });
    await operator.ready();
    address = await until(() => /"debug":"(127\.0\.0\.1:\d+)"/.exec(operator.text)?.[1]);
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const ask = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await bench.exec(...args, "--address", address);
    return stdout + stderr;
  };

  test("why on the last object tells the whole chain after one edit by kubectl", async () => {
    const shop = { apiVersion: "chain.example.com/v1", kind: "Shop", metadata: { name: "one" }, spec: { size: 2 } };
    await cluster.send("POST", "/apis/chain.example.com/v1/namespaces/default/shops", { body: shop });
    await cluster.exists("/api/v1/namespaces/default/configmaps/one");
    await cluster.kubectl("patch", "shop", "one", "--type=merge", "-p", '{"spec":{"size":7}}');
    const told = await until(async () => {
      const text = await ask("why", "configmap", "default/one", "--limit", "1");
      return text.includes("data.size 5 → 15") ? text : undefined;
    });
    expect(told).toContain("because Room default/one was changed by controller floor: spec.size 5 → 15");
    expect(told).toContain("because Floor default/one was changed by controller shop: spec.size 4 → 14");
    expect(told).toContain("because Shop default/one was changed by kubectl-patch: spec.size 2 → 7");
    expect(told).toContain("changed child ConfigMap default/one");
  }, 60_000);

  test("a parked key has its reason, and runs again when somebody asks", async () => {
    const shop = { apiVersion: "chain.example.com/v1", kind: "Shop", metadata: { name: "bad" }, spec: { size: -1 } };
    await cluster.send("POST", "/apis/chain.example.com/v1/namespaces/default/shops", { body: shop });
    const parked = await until(async () => {
      const text = await ask("keys", "--parked");
      return text.includes("default/bad") ? text : undefined;
    });
    expect(parked).toContain("TerminalError: a shop needs a size");
    expect(await ask("retry", "default/bad", "--controller", "shop")).toContain("shop default/bad runs again");
    await until(async () =>
      (await ask("why", "shop", "default/bad", "--limit", "1")).includes("somebody asked for it"),
    );
    expect(await ask("top", "--once")).toMatch(/chain\.ts +shop +running/);
  }, 60_000);
});
