import { type ObjectContext, of } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, type BoxShape, Lab, servers } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";
import type { ShapeOf } from "../controller/definition.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const CONDITION = "lab.binnacle.dev/box-children";

type Context = ObjectContext<BoxShape, ShapeOf<typeof ConfigMap>>;

const mapFor = (name: string) => of(ConfigMap, { metadata: { name }, data: { ours: "yes" } });

describe.each(servers)("onForeign (%s server)", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { owns: [ConfigMap] })], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  const foreign = (name: string) => lab.cluster.send("POST", MAPS, { body: { metadata: { name }, data: { x: "y" } } });
  const conditionsOf = async (name: string) => (await lab.get(name)).status?.conditions ?? [];

  test("`skip` leaves a foreign object alone, does the rest, and says so", async () => {
    await foreign("half-b");
    let result: unknown;
    let skipped: Context["children"]["skipped"] = [];
    await lab.box("half", async (_, { children, status }) => {
      const set = { a: mapFor("half-a"), b: mapFor("half-b"), list: [mapFor("half-c")] };
      const { a, b, list } = await children.sync(set, { onForeign: "skip" });
      result = [a?.metadata.name, b, list.length];
      ({ skipped } = children);
      status.condition({ type: "Ready", status: true, reason: "Done" });
    });
    expect(result).toEqual(["half-a", undefined, 1]);
    const message = "Cannot take over ConfigMap default/half-b: it exists and is not a child of this object";
    expect(skipped).toMatchObject([
      { name: "b", kind: "ConfigMap", key: { namespace: "default", name: "half-b" }, reason: "NotOwned" },
    ]);
    expect(skipped[0]!.message).toStartWith(message);
    expect((await lab.cluster.exists(`${MAPS}/half-b`)).data).toEqual({ x: "y" });
    expect((await lab.cluster.exists(`${MAPS}/half-c`)).data).toEqual({ ours: "yes" });
    expect(await conditionsOf("half")).toMatchObject([
      { type: "Ready", status: "True" },
      { type: CONDITION, status: "False", reason: "ChildSkipped", message: expect.stringContaining(message) },
    ]);
    const told = await until(
      async () => {
        const events = (await lab.cluster.get(EVENTS))!.items as unknown as { reason: string; note: string }[];
        return events.find(({ reason }) => reason === "ChildSkipped");
      },
      { what: "an Event" },
    );
    expect(told.note).toStartWith(message);
  });

  test("the child is made when the foreign object has gone, and the object takes back what it said", async () => {
    await lab.cluster.send("DELETE", `${MAPS}/half-b`);
    expect((await lab.cluster.exists(`${MAPS}/half-b`)).data).toEqual({ ours: "yes" });
    await until(
      async () => (await conditionsOf("half")).some(({ type, status }) => type === CONDITION && status === "True"),
      {
        what: "the condition taken back",
      },
    );
    const writes = lab.proxy.writes.length;
    await lab.turn("half");
    expect(lab.proxy.writes.slice(writes).filter((write) => write.includes("configmaps"))).toEqual([]);
  });

  test("with `skip` what is no longer wanted goes all the same", async () => {
    await lab.box("prunes", async ({ spec }, { children }) => {
      const gone = spec.turn === 0 ? mapFor("prunes-gone") : undefined;
      const other = spec.turn === 0 ? undefined : mapFor("prunes-foreign");
      await children.sync({ kept: mapFor("prunes-kept"), gone, other }, { onForeign: "skip" });
    });
    await lab.cluster.exists(`${MAPS}/prunes-gone`);
    await foreign("prunes-foreign");
    await lab.turn("prunes");
    await lab.cluster.gone(`${MAPS}/prunes-gone`);
    expect(behaviours.failure("prunes")).toBe("");
  });

  test("`fail`, and nothing said, refuse the whole set before any write", async () => {
    await foreign("whole-b");
    for (const onForeign of ["fail", undefined] as const) {
      const name = `whole-${onForeign}`;
      await lab.box(name, async (_, { children }) => {
        await children.sync({ a: mapFor(`${name}-a`), b: mapFor("whole-b") }, onForeign && { onForeign });
      });
      expect(behaviours.failure(name)).toStartWith("NotOwned: Cannot take over ConfigMap default/whole-b");
      expect(await lab.cluster.get(`${MAPS}/${name}-a`)).toBeUndefined();
      behaviours.set(name, async () => {});
    }
  });

  test("another word is refused", async () => {
    await lab.box("word", async (_, { children }) => {
      await children.sync({ a: mapFor("word-a") }, { onForeign: "ignore" as "skip" });
    });
    expect(behaviours.failure("word")).toBe(
      `TypeError: Cannot sync children: 'onForeign' must be "skip" or "fail", got 'ignore'`,
    );
    behaviours.set("word", async () => {});
  });
});
