import { of } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available } from "../../tests/support/cluster.ts";
import { Behaviours, Box, boxController, BOXES, Lab, type Reconcile } from "../../tests/support/integration/lab.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe.skipIf(!available)("own writes", () => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { owns: [ConfigMap], async finalize() {} })]);
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  /** Writes of every kind, as real reconcilers make them. */
  const busy: Reconcile = async (box, { children, client, status }) => {
    const { name, namespace } = box.metadata;
    await children.sync({ a: of(ConfigMap, { metadata: { name }, data: { turn: String(box.spec.turn) } }) });
    await client.edit(Box, { name, namespace }, (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, turn: String(box.spec.turn) };
    });
    status.set({ turn: box.spec.turn });
    status.condition({ type: "Ready", status: true, reason: "Done" });
  };

  test("settle: children, status, finalizer and labels cause at most one extra run", async () => {
    await lab.box("busy", busy);
    await lab.operator.idle(500);
    expect(behaviours.runs.get("busy")).toBeLessThanOrEqual(2);
    const before = behaviours.runs.get("busy")!;
    await lab.turn("busy");
    await lab.operator.idle(500);
    expect(behaviours.runs.get("busy")! - before).toBeLessThanOrEqual(2);
  });

  test("settle also when watches are behind, relisted and cut", async () => {
    lab.proxy.delay = 500;
    await lab.box("behind", busy);
    lab.proxy.cut({ expire: true });
    await Bun.sleep(300);
    lab.proxy.cut();
    lab.proxy.delay = 0;
    await lab.turn("behind");
    await lab.operator.idle(1_500);
    // One for each of two changes. A list does not show what lies between our write and what it shows, so that each of
    // two kinds runs the key once more for each list that comes before the echoes: no more than two times two.
    expect(behaviours.runs.get("behind")).toBeLessThanOrEqual(6);
  });

  test("foreign changes of what they wrote are seen", async () => {
    await lab.box("foreign", busy);
    await lab.cluster.patch(`${MAPS}/foreign`, { data: { turn: "theirs" } });
    await lab.cluster.exists(`${MAPS}/foreign`, ({ data }) => data?.["turn"] === "0");
    await lab.cluster.patch(`${BOXES}/foreign`, { metadata: { labels: { turn: "theirs" } } });
    await lab.cluster.exists(`${BOXES}/foreign`, ({ metadata }) => metadata.labels?.["turn"] === "0");
    await lab.cluster.send("PATCH", `${BOXES}/foreign/status`, {
      body: { status: { turn: 99 } },
      type: "application/merge-patch+json",
    });
    await lab.cluster.exists(`${BOXES}/foreign`, ({ status }) => status?.["turn"] === 0);
    await lab.cluster.send("DELETE", `${MAPS}/foreign`);
    await lab.cluster.exists(`${MAPS}/foreign`);
  });

  test("of an earlier name are taken over with `formerly`, and left alone without", async () => {
    const reconcile: Reconcile = async (box, { children }) => {
      const { name } = box.metadata;
      const isNew = box.spec.turn > 0;
      const kept = of(ConfigMap, { metadata: { name }, data: isNew ? { b: "2" } : { a: "1" } });
      const dropped = isNew ? undefined : of(ConfigMap, { metadata: { name: `${name}-dropped` }, data: {} });
      await children.sync({ kept, dropped });
    };
    await lab.box("old", reconcile);
    await lab.box("old-too", reconcile);
    behaviours.set("old-too", async () => {});
    await lab.restart([boxController(behaviours, { name: "new", formerly: ["box"], owns: [ConfigMap] })]);
    await lab.turn("old");
    expect((await lab.cluster.exists(`${MAPS}/old`)).data).toEqual({ b: "2" });
    await lab.cluster.gone(`${MAPS}/old-dropped`);

    await lab.restart([boxController(behaviours, { name: "stranger", owns: [ConfigMap] })]);
    await lab.turn("old-too", reconcile);
    expect((await lab.cluster.exists(`${MAPS}/old-too`)).data).toEqual({ a: "1", b: "2" });
    expect(await lab.cluster.get(`${MAPS}/old-too-dropped`)).toBeDefined(); // another controller's, for all it knows
    await lab.restart();
  });

  test("run the key again when the controller asks for that", async () => {
    await lab.restart([boxController(behaviours, { owns: [ConfigMap], reconcileOwnWrites: true })]);
    let runs = 0;
    await lab.box("echo", async ({ metadata: { name } }, { children }) => {
      runs++;
      await children.sync({ a: of(ConfigMap, { metadata: { name } }) });
    });
    await lab.operator.idle(300);
    expect(runs).toBe(2);
  });
});
