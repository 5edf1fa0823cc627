import { defineController, watch, type WatchOptions } from "binnacle";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, Box, BOXES, Lab, servers } from "../../tests/support/integration/lab.ts";

const TEAM = { team: "a" };
/** The three forms of a selector, each with what makes an object of the name a member. */
const forms: readonly { name: string; selector: WatchOptions<Box>; namespace: string }[] = [
  { name: "labels", selector: { labels: "team=a" }, namespace: "default" },
  { name: "fields", selector: { fields: "metadata.name=fields" }, namespace: "default" },
  { name: "namespaces", selector: { namespaces: { labels: "team=a" } }, namespace: "chosen" },
];

describe.each(servers)("what leaves a selector on the %s server", (server) => {
  const behaviours = new Behaviours();
  const finalized: string[] = [];
  const reconciled: string[] = [];
  let failing: string | undefined;
  const controllers = forms.map(({ name, selector }) =>
    defineController({
      name,
      for: watch(Box, selector),
      retry: { first: "20ms", max: "200ms" },
      async reconcile({ metadata }) {
        reconciled.push(`${name} ${metadata.name}`);
      },
      async finalize({ metadata, spec }) {
        finalized.push(`${name} ${metadata.name} ${spec.turn}`);
        if (failing === name) throw new Error("not yet");
      },
    }),
  );
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, controllers, { server });
    for (const name of ["chosen", "other"])
      await lab.cluster.send("POST", "/api/v1/namespaces", { body: { metadata: { name, labels: TEAM } } });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());
  afterEach(() => {
    failing = undefined;
    lab.proxy.before = async () => {};
    lab.proxy.delay = 0;
    finalized.length = 0;
    reconciled.length = 0;
  });

  const boxes = (namespace: string): string => BOXES.replace("/default/", `/${namespace}/`);
  const create = (name: string, { namespace = "default", ...metadata }: Record<string, unknown> = {}) =>
    lab.cluster.send("POST", boxes(namespace as string), {
      body: { apiVersion: Box.apiVersion, kind: "Box", metadata: { name, labels: TEAM, ...metadata }, spec: {} },
    });
  const finalizer = (name: string): string => `lab.binnacle.dev/${name}`;
  const held = (name: string, { by = "labels", namespace = "default" } = {}) =>
    lab.cluster.exists(`${boxes(namespace)}/${name}`, ({ metadata }) => !!metadata.finalizers?.includes(finalizer(by)));
  const released = (name: string, by = "labels") =>
    lab.cluster.exists(`${BOXES}/${name}`, ({ metadata }) => !metadata.finalizers?.includes(finalizer(by)));
  const remove = async (path: string): Promise<void> => {
    await lab.cluster.send("DELETE", path);
    await lab.cluster.gone(path);
    await lab.operator.idle();
  };
  const of = (form: string): string[] => finalized.filter((one) => one.startsWith(`${form} `));

  test.each(forms)("a deleted member of $name is finalized once", async ({ name, namespace }) => {
    await create(name, { namespace });
    await held(name, { by: name, namespace });
    await remove(`${boxes(namespace)}/${name}`);
    expect(of(name)).toEqual([`${name} ${name} 0`]);
    expect(lab.operator.lines("error")).toEqual([]);
  });

  test("a deletion that others finish is not finalized any more", async () => {
    failing = "labels";
    await create("stripped");
    await held("stripped");
    await lab.cluster.send("DELETE", `${BOXES}/stripped`);
    await lab.cluster.exists(`${BOXES}/stripped`, () => of("labels").length > 0);
    await lab.cluster.patch(`${BOXES}/stripped`, { metadata: { finalizers: null } });
    await lab.cluster.gone(`${BOXES}/stripped`);
    await lab.operator.idle();
    const before = of("labels").length;
    await Bun.sleep(300);
    expect(of("labels")).toHaveLength(before);
    expect(lab.operator.manager.modules.controllers.map(({ queue }) => queue.delayed)).toEqual([0, 0, 0]);
  });

  test("an object that leaves is finalized and released, and not again when it is deleted", async () => {
    await create("leaver");
    await held("leaver");
    await lab.cluster.patch(`${BOXES}/leaver`, { metadata: { labels: { team: null } } });
    await released("leaver");
    await lab.cluster.patch(`${BOXES}/leaver`, { spec: { turn: 2 } });
    await remove(`${BOXES}/leaver`);
    expect(of("labels")).toEqual(["labels leaver 0"]);
  });

  test("what has left is finalized as it is now", async () => {
    failing = "labels";
    await create("later");
    await held("later");
    await lab.cluster.patch(`${BOXES}/later`, { metadata: { labels: { team: "b" } } });
    await lab.cluster.exists(`${BOXES}/later`, () => of("labels").length > 0);
    await lab.cluster.patch(`${BOXES}/later`, { spec: { turn: 7 } });
    failing = undefined;
    await released("later");
    await lab.operator.idle();
    expect(of("labels").at(-1)).toBe("labels later 7");
  });

  test("what is back before its finalization begins is a member", async () => {
    await create("back");
    await held("back");
    lab.proxy.delay = 300; // the watch shows late that it left, when it is back already
    await lab.cluster.patch(`${BOXES}/back`, { metadata: { labels: { team: "b" } } });
    await lab.cluster.patch(`${BOXES}/back`, { metadata: { labels: TEAM } });
    await Bun.sleep(400);
    await lab.operator.idle();
    expect(of("labels")).toEqual([]);
    lab.proxy.delay = 0;
    await remove(`${BOXES}/back`);
    expect(of("labels")).toEqual(["labels back 0"]);
  });

  test("a namespace that leaves lets its objects go, and one that comes back takes them up", async () => {
    await create("moved", { namespace: "other" });
    await held("moved", { by: "namespaces", namespace: "other" });
    await lab.cluster.patch("/api/v1/namespaces/other", { metadata: { labels: { team: null } } });
    const path = `${boxes("other")}/moved`;
    await lab.cluster.exists(path, ({ metadata }) => !metadata.finalizers?.includes(finalizer("namespaces")));
    expect(of("namespaces")).toEqual(["namespaces moved 0"]);
    await lab.cluster.patch("/api/v1/namespaces/other", { metadata: { labels: TEAM } });
    await held("moved", { by: "namespaces", namespace: "other" });
    await remove(path);
    expect(of("namespaces")).toHaveLength(2);
  });

  test("what left while nobody watched is finalized after a restart, and what is gone is not", async () => {
    await create("left");
    await create("gone");
    await held("left");
    await held("gone");
    await lab.restart([]);
    await lab.cluster.patch(`${BOXES}/left`, { metadata: { labels: { team: null } } });
    await lab.cluster.send("DELETE", `${BOXES}/gone`);
    await lab.cluster.patch(`${BOXES}/gone`, { metadata: { finalizers: null } });
    await lab.restart();
    await released("left");
    await lab.operator.idle();
    expect(of("labels")).toEqual(["labels left 0"]);
  });

  describe("while the finalizer is written", () => {
    /** Changes the object at the moment when the finalizer of the controller is on its way. */
    const whileAdding = (name: string, change: () => Promise<unknown>): void => {
      lab.proxy.before = async ({ method, path, body }) => {
        if (method !== "PATCH" || path !== `${BOXES}/${name}` || !body.includes("lab.binnacle.dev/")) return;
        lab.proxy.before = async () => {};
        await change();
      };
    };

    test("an object that leaves the selector is not reconciled, and let go", async () => {
      whileAdding("quick", () => lab.cluster.patch(`${BOXES}/quick`, { metadata: { labels: { team: null } } }));
      await create("quick");
      await released("quick");
      await lab.operator.idle();
      await released("quick");
      expect(reconciled.filter((one) => one.startsWith("labels"))).toEqual([]);
    });

    test("an object that stops matching is not reconciled, and let go", async () => {
      const seen: string[] = [];
      const matching = defineController({
        name: "matching",
        for: watch(Box, { match: ({ metadata }) => metadata.labels?.["kept"] === "yes" }),
        async reconcile({ metadata }) {
          seen.push(`reconcile ${metadata.name}`);
        },
        async finalize({ metadata }) {
          seen.push(`finalize ${metadata.name}`);
        },
      });
      await lab.restart([matching]);
      whileAdding("match", () => lab.cluster.patch(`${BOXES}/match`, { metadata: { labels: { kept: "no" } } }));
      await create("match", { labels: { kept: "yes" } });
      await lab.cluster.exists(`${BOXES}/match`, ({ metadata }) => metadata.labels?.["kept"] === "no");
      await lab.operator.idle();
      await released("match", "matching");
      expect(seen).toEqual(["finalize match"]);
      await lab.restart();
    });
  });
});
