import { allow, type ObjectContext, of, TerminalError } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  Behaviours,
  type Box,
  Box as Boxes,
  boxController,
  BOXES,
  type BoxShape,
  Lab,
  servers,
} from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";
import type { ShapeOf } from "../controller/definition.ts";
import { controllerReference } from "./owner.ts";

type Owned = ShapeOf<typeof ConfigMap> | ShapeOf<typeof Secret>;
type Context = ObjectContext<BoxShape, Owned>;

const NAMESPACE = "/api/v1/namespaces/default";

/** Metadata of an object that the box controls, as a controller sets it that makes its children itself. */
function ownedBy(box: Box, name: string) {
  return { namespace: "default", name, ownerReferences: [controllerReference(box)] };
}

/**
 * The usual shape of a controller in Go: each run looks for the first thing that is missing, makes it, and returns. The
 * event of what it made begins the next run.
 */
async function oneStep(box: Box, { client }: Pick<Context, "client">): Promise<void> {
  const { name } = box.metadata;
  const key = { namespace: "default", name };
  if (!box.metadata.labels?.["step"]) {
    await client.edit(Boxes, key, (draft) => void (draft.metadata.labels = { step: "labelled" }));
    return;
  }
  if ((await client.find(ConfigMap, key)) === undefined) {
    await client.create(ConfigMap, { metadata: ownedBy(box, `${name}-stale`) });
    await client.create(ConfigMap, { metadata: ownedBy(box, name), data: { size: "0" } });
    return;
  }
  if ((await client.find(Secret, key)) === undefined) {
    await client.create(Secret, { metadata: ownedBy(box, name) });
    return;
  }
  const map = await client.get(ConfigMap, key);
  if (map.data?.["size"] !== "3") {
    await client.update(ConfigMap, { ...map, data: { size: "3" } });
    return;
  }
  const stale = { namespace: "default", name: `${name}-stale` };
  if ((await client.find(ConfigMap, stale)) !== undefined) {
    await client.delete(ConfigMap, stale);
    return;
  }
  const status = { turn: 1 };
  if (box.status?.turn === status.turn) return;
  await client.subresource("status").patch(Boxes, key, { type: "merge", body: { status } });
}

describe.each(servers)("writes by hand (%s server)", (server) => {
  const behaviours = new Behaviours<Owned>();
  let lab: Lab<Owned>;
  const uses = [allow(Boxes, "update", "status/patch")];
  const options = { owns: [ConfigMap, Secret], uses };

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, options)], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  async function settled(name: string): Promise<number> {
    await lab.operator.idle(300);
    return behaviours.runs.get(name) ?? 0;
  }

  test("a controller that goes one step per run comes to its end", async () => {
    await lab.box("step", oneStep);
    await until(async () => (await lab.get("step")).status?.["turn"] === 1, { what: () => lab.operator.text });
    expect((await lab.cluster.exists(`${NAMESPACE}/configmaps/step`)).data).toEqual({ size: "3" });
    expect(await lab.cluster.get(`${NAMESPACE}/configmaps/step-stale`)).toBeUndefined();
    expect(await settled("step")).toBe(7); // six steps, each of which begins the next run, and the last run finds all done
  });

  test("several of one run are one more run, after it, and those that change nothing none", async () => {
    let running = 0;
    let most = 0;
    await lab.box("several", async (box, { client }) => {
      most = Math.max(most, ++running);
      for (const part of ["a", "b", "c"]) {
        const metadata = ownedBy(box, `several-${part}`);
        await client.apply(ConfigMap, { metadata, data: { part } });
        await client.patch(ConfigMap, metadata, { type: "merge", body: { data: { more: part } } });
      }
      running--;
    });
    expect(await settled("several")).toBe(2);
    expect(most).toBe(1);
  });

  test("the cause of the next run says which", async () => {
    const causes: string[] = [];
    await lab.box("because", async (box, { client, causes: why }) => {
      causes.push(why.map(({ source, type, kind }) => `${source} ${kind} ${type}`).join());
      await client.apply(ConfigMap, { metadata: ownedBy(box, "because") });
    });
    await settled("because");
    expect(causes).toEqual(["for Box create", "owns ConfigMap create"]);
  });

  test("what the runtime writes to reach what was declared begins none", async () => {
    await lab.box("declared", async ({ metadata: { name }, spec }, { children, status }) => {
      await children.sync({ map: of(ConfigMap, { metadata: { name }, data: { turn: String(spec.turn) } }) });
      status.set({ turn: spec.turn });
    });
    expect(await settled("declared")).toBe(1);
  });

  test.skipIf(server === "real")("that never end are said in the log", async () => {
    const isTold = () => lab.operator.lines("warn").some(({ msg }) => msg.startsWith("Reconcile keeps itself running"));
    behaviours.set("endless", async (box, { client }) => {
      if (isTold()) return;
      const body = { data: { run: String(behaviours.runs.get("endless")) } };
      await client.apply(ConfigMap, { metadata: ownedBy(box, "endless"), ...body });
    });
    await lab.cluster.send("POST", BOXES, {
      body: { apiVersion: Boxes.apiVersion, kind: "Box", metadata: { name: "endless" }, spec: {} },
    });
    await until(isTold, { within: 60_000, what: "a warning" });
    expect(behaviours.runs.get("endless")).toBeGreaterThanOrEqual(1_000);
    await settled("endless");
  });

  test("of a run that fails change nothing about its back-off", async () => {
    await lab.restart([boxController(behaviours, { ...options, retry: { first: "1h", max: "1h" } })]);
    await lab.box("fails", async (box, { client, attempt }) => {
      await client.apply(ConfigMap, { metadata: ownedBy(box, "fails"), data: { attempt: String(attempt) } });
      throw new Error("always");
    });
    expect(await settled("fails")).toBe(1);
    await lab.box("parked", async (box, { client }) => {
      await client.apply(ConfigMap, { metadata: ownedBy(box, "parked") });
      throw new TerminalError("never again");
    });
    expect(await settled("parked")).toBe(1);
    expect([...lab.operator.manager.modules.controllers[0]!.queue.parked.keys()]).toEqual(["default/parked"]);
    for (const name of ["fails", "parked"]) behaviours.set(name, async () => {});
    await lab.restart();
  });

  test("begin no run when the controller asks for that", async () => {
    await lab.restart([boxController(behaviours, { ...options, reconcileOwnWrites: false })]);
    // With the default this one would keep itself running for ever.
    await lab.box("quiet", async (box, { client }) => {
      const metadata = ownedBy(box, "quiet");
      await client.apply(ConfigMap, { metadata });
      await client.delete(ConfigMap, metadata);
    });
    expect(await settled("quiet")).toBe(1);
    behaviours.set("quiet", async () => {});
    await lab.restart();
  });

  test("run every other key and controller that they map to as any event", async () => {
    await lab.box("neighbour", async () => {});
    const neighbour = (await lab.get("neighbour")) as unknown as Box;
    await lab.box("writer", async (_, { client }) => {
      await client.apply(ConfigMap, { metadata: ownedBy(neighbour, "of-the-neighbour") });
    });
    expect(await settled("neighbour")).toBe(2);
    expect(await settled("writer")).toBe(1);
  });
});
