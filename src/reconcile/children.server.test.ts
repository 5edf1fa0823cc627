import { defineController, defineResource, type ObjectContext, type ObjectOf, of, watch, z } from "binnacle";
import { ConfigMap, Deployment, Namespace, Secret } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, Cluster, type Json } from "../../tests/support/cluster.ts";
import { FaultyProxy } from "../../tests/support/integration/faulty-proxy.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { until } from "../../tests/support/until.ts";
import type { ShapeOf } from "../controller/definition.ts";

const Box = defineResource({
  group: "children.binnacle.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ turn: z.int().default(0) }),
  status: z.object({ turn: z.int().optional() }),
});
type Box = ObjectOf<typeof Box>;
type Owned = ShapeOf<typeof ConfigMap | typeof Deployment | typeof Secret | typeof Namespace>;
type Reconcile = (box: Box, context: ObjectContext<ShapeOf<typeof Box>, Owned>) => Promise<void>;

/** What the reconciler does for the object of a name, and how it ended. */
const behaviours = new Map<string, Reconcile>();
const failures = new Map<string, unknown>();

const boxes = defineController({
  for: Box,
  owns: [
    ConfigMap,
    Deployment,
    watch(Secret, { track: "label" }),
    watch(Namespace, { track: "label", labels: "box=yes" }),
  ],
  retry: { first: "20ms", max: "200ms" },
  async reconcile(box, context) {
    const { name } = box.metadata;
    try {
      await behaviours.get(name)?.(box, context);
      failures.delete(name);
    } catch (error) {
      failures.set(name, error);
      throw error;
    }
  },
  async finalize() {},
});

const BOXES = "/apis/children.binnacle.dev/v1/namespaces/default/boxes";
const MAPS = "/api/v1/namespaces/default/configmaps";
const mapFor = (name: string, data: Record<string, string> = { a: "1" }) => of(ConfigMap, { metadata: { name }, data });

describe.skipIf(!available)("children.sync", () => {
  let cluster: Cluster;
  let proxy: FaultyProxy;
  let operator: InProcess;

  beforeAll(async () => {
    cluster = await Cluster.start();
    proxy = await FaultyProxy.start(cluster.plane);
    operator = await InProcess.start({ cluster: proxy.cluster, definitions: [Box, boxes] });
  }, 240_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  async function box(name: string, reconcile: Reconcile): Promise<Json> {
    behaviours.set(name, reconcile);
    const made = await cluster.send("POST", BOXES, {
      body: { apiVersion: Box.apiVersion, kind: "Box", metadata: { name }, spec: {} },
    });
    await operator.idle();
    return made;
  }
  const turn = async (name: string, reconcile?: Reconcile): Promise<void> => {
    if (reconcile !== undefined) behaviours.set(name, reconcile);
    const { spec } = await cluster.exists(`${BOXES}/${name}`);
    await cluster.patch(`${BOXES}/${name}`, { spec: { turn: Number(spec?.["turn"] ?? 0) + 1 } });
    await until(
      async () => (await cluster.get(`${BOXES}/${name}`))?.metadata.generation === seen.get(name) || undefined,
      { within: 90_000, what: `a run of ${name}` },
    );
    await operator.idle();
  };
  const seen = new Map<string, number>();
  const remember =
    (reconcile: Reconcile): Reconcile =>
    async (object, context) => {
      seen.set(object.metadata.name, object.metadata.generation ?? 0);
      await reconcile(object, context);
    };
  const failure = (name: string): { name: string; message: string } =>
    (failures.get(name) as Error | undefined) ?? { name: "none", message: "" };
  const writesFor = (name: string): number => proxy.writes.filter((write) => write.includes(`/${name}`)).length;

  test("makes the set, with an owner reference that blocks deletion", async () => {
    const owner = await box("plain", async (_, { children }) => {
      const { map } = await children.sync({ map: mapFor("plain") });
      expect(map.data).toEqual({ a: "1" });
    });
    const map = await cluster.exists(`${MAPS}/plain`);
    expect(map.metadata).toMatchObject({
      ownerReferences: [
        {
          apiVersion: Box.apiVersion,
          kind: "Box",
          name: "plain",
          uid: owner.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
  });

  test("UTIL-01 refuses an object without a controller before any write, and adopts it when told", async () => {
    const before = await cluster.send("POST", MAPS, { body: { metadata: { name: "found" }, data: { x: "y" } } });
    await box(
      "unowned",
      remember(async (_, { children }) => {
        await children.sync({ first: mapFor("unowned-first"), map: mapFor("found") });
      }),
    );
    expect(failure("unowned")).toMatchObject({ name: "NotOwned" });
    expect(failure("unowned").message).toContain("ConfigMap default/found");
    expect(await cluster.get(`${MAPS}/unowned-first`)).toBeUndefined();
    expect((await cluster.exists(`${MAPS}/found`)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await turn(
      "unowned",
      remember(async (_, { children }) => {
        await children.sync({ first: mapFor("unowned-first"), map: mapFor("found") }, { adopt: ["map"] });
      }),
    );
    expect(failure("unowned").name).toBe("none");
    const adopted = await cluster.exists(`${MAPS}/found`);
    expect(adopted.data).toEqual({ a: "1", x: "y" });
    expect(adopted.metadata).toHaveProperty("ownerReferences");
  });

  test("UTIL-01 refuses a child of another controller, also with adopt", async () => {
    const other = await cluster.send("POST", MAPS, { body: { metadata: { name: "other-owner" } } });
    const reference = {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "other-owner",
      uid: other.metadata.uid,
      controller: true,
    };
    const theirs = await cluster.send("POST", MAPS, {
      body: { metadata: { name: "theirs", ownerReferences: [reference] } },
    });
    await box("thief", async (_, { children }) => {
      await children.sync({ map: mapFor("theirs") }, { adopt: true });
    });
    expect(failure("thief")).toMatchObject({ name: "AlreadyOwned" });
    expect(failure("thief").message).toContain("ConfigMap other-owner");
    expect((await cluster.exists(`${MAPS}/theirs`)).metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
  });

  test("UTIL-01 a reference to the same owner in an earlier version is replaced, and stays the only one", async () => {
    const { metadata } = await box("versions", async () => {});
    const owner = { apiVersion: "children.binnacle.dev/v0", kind: "Box", name: "versions", uid: metadata.uid };
    const body = { metadata: { name: "versions", ownerReferences: [{ ...owner, controller: true }] } };
    await cluster.send("POST", MAPS, { body });
    await turn(
      "versions",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("versions") });
      }),
    );
    const child = (await cluster.exists(`${MAPS}/versions`)) as unknown as { metadata: { ownerReferences: object[] } };
    const reference = { ...owner, apiVersion: Box.apiVersion, controller: true, blockOwnerDeletion: true };
    expect(child.metadata.ownerReferences).toEqual([reference]);
  });

  test("prunes what is no longer wanted, keeps what is to be kept, refuses an empty set", async () => {
    await box(
      "shrink",
      remember(async (_, { children }) => {
        await children.sync({
          a: mapFor("shrink-a"),
          b: mapFor("shrink-b"),
          c: [mapFor("shrink-c1"), mapFor("shrink-c2")],
        });
      }),
    );
    await cluster.exists(`${MAPS}/shrink-c2`);
    await turn(
      "shrink",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("shrink-a"), b: undefined, c: [mapFor("shrink-c1")] }, { keep: ["b"] });
      }),
    );
    await cluster.gone(`${MAPS}/shrink-c2`);
    expect(await cluster.get(`${MAPS}/shrink-b`)).toBeDefined();
    await turn(
      "shrink",
      remember(async (_, { children }) => {
        await children.sync({ a: undefined, c: [] });
      }),
    );
    expect(failure("shrink").message).toContain("allowEmpty");
    expect(await cluster.get(`${MAPS}/shrink-a`)).toBeDefined();
    await turn(
      "shrink",
      remember(async (_, { children }) => {
        await children.sync({ a: undefined, c: [] }, { allowEmpty: true });
      }),
    );
    for (const name of ["a", "b", "c1"]) await cluster.gone(`${MAPS}/shrink-${name}`);
  });

  test("deletes with preconditions and only what it made itself", async () => {
    await box(
      "careful",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("careful-a"), b: mapFor("careful-b") });
      }),
    );
    const owner = await cluster.exists(`${BOXES}/careful`);
    // Somebody else's object, in our owner's name.
    await cluster.send("POST", MAPS, {
      body: {
        metadata: {
          name: "careful-foreign",
          ownerReferences: [
            { apiVersion: Box.apiVersion, kind: "Box", name: "careful", uid: owner.metadata.uid, controller: true },
          ],
        },
      },
    });
    await operator.idle();
    await turn(
      "careful",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("careful-a") });
      }),
    );
    await cluster.gone(`${MAPS}/careful-b`);
    const deletion = proxy.seen.find(({ method, path }) => method === "DELETE" && path.endsWith("/careful-b"));
    expect(JSON.parse(deletion!.body)).toMatchObject({
      preconditions: { uid: expect.any(String), resourceVersion: expect.any(String) },
    });
    expect(await cluster.get(`${MAPS}/careful-foreign`)).toBeDefined();
  });

  test("a second call in one run throws", async () => {
    await box("twice", async (_, { children }) => {
      await children.sync({ a: mapFor("twice") });
      await children.sync({ a: mapFor("twice") });
    });
    expect(failure("twice").message).toContain("twice in one run");
  });

  test("UTIL-01 a child in another namespace, or cluster-scoped, needs `track: label`", async () => {
    await box("far", async (_, { children }) => {
      await children.sync({
        near: mapFor("far"),
        far: of(ConfigMap, { metadata: { name: "far", namespace: "kube-system" } }),
      });
    });
    expect(failure("far").message).toContain('track: "label"');
    expect(await cluster.get(`${MAPS}/far`)).toBeUndefined();
    expect(await cluster.get("/api/v1/namespaces/kube-system/configmaps/far")).toBeUndefined();
  });

  test("label-tracked children across namespaces and scopes are followed, and go in finalization", async () => {
    const secret = "/api/v1/namespaces/kube-system/secrets/tracked";
    await box("tracked", async (_, { children }) => {
      await children.sync({
        secret: of(Secret, { metadata: { name: "tracked", namespace: "kube-system" }, stringData: { a: "b" } }),
        space: of(Namespace, { metadata: { name: "tracked-space", labels: { box: "yes" } } }),
      });
    });
    expect(failure("tracked")).toMatchObject({ name: "none" });
    await cluster.exists("/api/v1/namespaces/tracked-space");
    await cluster.exists(secret);
    await cluster.send("DELETE", secret);
    await cluster.exists(secret); // made again
    await cluster.send("DELETE", `${BOXES}/tracked`);
    await cluster.gone(secret);
    await cluster.gone("/api/v1/namespaces/tracked-space", 90_000);
    await cluster.gone(`${BOXES}/tracked`);
  }, 180_000);

  test("refuses a child outside the selector of its `owns` entry", async () => {
    await box("outside", async (_, { children }) => {
      await children.sync({ space: of(Namespace, { metadata: { name: "outside" } }) });
    });
    expect(failure("outside").message).toContain("box=yes");
    expect(await cluster.get("/api/v1/namespaces/outside")).toBeUndefined();
  });

  test("`after` waits until the earlier ones are ready", async () => {
    const labels = { app: "waves" };
    await box("waves", async (_, { children }) => {
      await children.sync(
        {
          first: of(Deployment, {
            metadata: { name: "waves" },
            spec: {
              replicas: 1,
              selector: { matchLabels: labels },
              template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
            },
          }),
          second: mapFor("waves"),
        },
        { after: { second: ["first"] } },
      );
    });
    const path = "/apis/apps/v1/namespaces/default/deployments/waves";
    await cluster.exists(path);
    expect(await cluster.get(`${MAPS}/waves`)).toBeUndefined();
    await cluster.patch(path, { spec: { replicas: 1, paused: true } });
    await cluster.send("PATCH", path, { body: { spec: { replicas: 0 } }, type: "application/merge-patch+json" });
    behaviours.set("waves", async (_, { children }) => {
      await children.sync(
        {
          first: of(Deployment, {
            metadata: { name: "waves" },
            spec: {
              replicas: 0,
              selector: { matchLabels: labels },
              template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
            },
          }),
          second: mapFor("waves"),
        },
        { after: { second: ["first"] } },
      );
    });
    await cluster.patch(`${BOXES}/waves`, { spec: { turn: 1 } });
    await cluster.exists(`${MAPS}/waves`);
  });

  test("makes a child that is deleted again, and sets a changed one back", async () => {
    await box("keeper", async (_, { children }) => {
      await children.sync({ a: mapFor("keeper") });
    });
    const before = await cluster.exists(`${MAPS}/keeper`);
    await cluster.send("DELETE", `${MAPS}/keeper`);
    await cluster.exists(`${MAPS}/keeper`, ({ metadata }) => metadata.uid !== before.metadata.uid);
    await cluster.patch(`${MAPS}/keeper`, { data: { a: "2", b: "theirs" } });
    await cluster.exists(`${MAPS}/keeper`, ({ data }) => data?.["a"] === "1");
    expect((await cluster.exists(`${MAPS}/keeper`)).data).toEqual({ a: "1", b: "theirs" });
  });

  test("a field that is no longer wanted goes, what others set stays", async () => {
    await box(
      "fields",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("fields", { a: "1", b: "1" }) });
      }),
    );
    await cluster.patch(`${MAPS}/fields`, { data: { c: "theirs" } });
    await operator.idle();
    await turn(
      "fields",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("fields", { a: "1" }) });
      }),
    );
    expect((await cluster.exists(`${MAPS}/fields`)).data).toEqual({ a: "1", c: "theirs" });
  });

  test("no request when nothing differs", async () => {
    await box(
      "calm",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("calm") });
      }),
    );
    const before = writesFor("calm");
    await turn("calm");
    expect(writesFor("calm")).toBe(before);
  });

  test("makes no child again while its owner is deleted in the foreground", async () => {
    await box("front", async (_, { children }) => {
      await children.sync({ a: mapFor("front") });
    });
    const created = proxy.seen.filter(({ path, code }) => path.endsWith("/front") && code === 201).length;
    await cluster.send("DELETE", `${BOXES}/front`, { body: { propagationPolicy: "Foreground" } });
    await cluster.gone(`${BOXES}/front`, 90_000);
    await cluster.gone(`${MAPS}/front`);
    expect(proxy.seen.filter(({ path, code }) => path.endsWith("/front") && code === 201)).toHaveLength(created);
  }, 180_000);

  test("refuses an object that the cache does not show yet, and changes nothing of it", async () => {
    proxy.delay = 1_500;
    proxy.delayed = /configmaps/;
    const before = await cluster.send("POST", MAPS, { body: { metadata: { name: "unseen" }, data: { a: "theirs" } } });
    await box("unseen", async (_, { children }) => {
      await children.sync({ a: mapFor("unseen") });
    });
    proxy.delay = 0;
    expect(failure("unseen")).toMatchObject({ name: "NotOwned" });
    expect((await cluster.exists(`${MAPS}/unseen`)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test("merges nothing into an object that the cache does not show yet, also without a conflict of fields", async () => {
    proxy.delay = 1_500;
    proxy.delayed = /configmaps/;
    const body = { metadata: { name: "apart" }, data: { b: "theirs" } };
    const before = await cluster.send("POST", MAPS, { body });
    await box("apart", async (_, { children }) => {
      await children.sync({ a: mapFor("apart") });
    });
    proxy.delay = 0;
    expect(failure("apart")).toMatchObject({ name: "NotOwned" });
    expect((await cluster.exists(`${MAPS}/apart`)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test("merges nothing into an object that took a child's place, and makes a child that is gone anew", async () => {
    for (const name of ["replaced", "vanished"]) {
      await box(
        name,
        remember(async (_, { children }) => {
          await children.sync({ a: mapFor(name) });
        }),
      );
    }
    const { uid } = (await cluster.exists(`${MAPS}/vanished`)).metadata;
    proxy.delay = 1_500;
    proxy.delayed = /configmaps/;
    await cluster.send("DELETE", `${MAPS}/replaced`);
    await cluster.send("DELETE", `${MAPS}/vanished`);
    const body = { metadata: { name: "replaced" }, data: { b: "theirs" } };
    const foreign = await cluster.send("POST", MAPS, { body });
    for (const name of ["replaced", "vanished"]) {
      await turn(
        name,
        remember(async (_, { children }) => {
          await children.sync({ a: mapFor(name, { a: "2" }) });
        }),
      );
    }
    proxy.delay = 0;
    expect(failure("replaced")).toMatchObject({ name: "NotOwned" });
    expect((await cluster.exists(`${MAPS}/replaced`)).metadata.resourceVersion).toBe(foreign.metadata.resourceVersion);
    const anew = await cluster.exists(`${MAPS}/vanished`);
    expect(anew.data).toEqual({ a: "2" });
    expect(anew.metadata.uid).not.toBe(uid);
  });

  test("prunes nothing while the cache of an owned kind is not current", async () => {
    await box(
      "blind",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("blind-a"), b: mapFor("blind-b") });
      }),
    );
    proxy.forbidden = /deployments$/;
    proxy.cut();
    await until(() => operator.lines("warn").some(({ message }) => String(message).includes("forbidden by the test")), {
      what: () => `an informer that is unavailable: ${operator.text.slice(-3_000)}`,
    });
    await turn(
      "blind",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("blind-a", { a: "2" }) });
      }),
    );
    // A first run may come while the watch of ConfigMaps, which was cut off too, is not back.
    await until(() => failure("blind").message.includes("the cache of Deployment is not current"), {
      what: () => `a refusal for Deployments: ${failure("blind").message}`,
    });
    expect((await cluster.exists(`${MAPS}/blind-a`)).data).toEqual({ a: "2" });
    expect(await cluster.get(`${MAPS}/blind-b`)).toBeDefined();
    proxy.forbidden = undefined;
    await cluster.gone(`${MAPS}/blind-b`, 60_000);
  }, 180_000);

  test("lets an object go only when its label-tracked children can be seen", async () => {
    const secret = "/api/v1/namespaces/kube-system/secrets/sightless";
    const desired = of(Secret, { metadata: { name: "sightless", namespace: "kube-system" } });
    await box("sightless", async (_, { children }) => void (await children.sync({ secret: desired })));
    await cluster.exists(secret);
    const told = operator.log.length;
    const logged = (text: string): boolean =>
      operator.log.slice(told).some((line) => JSON.stringify(line).includes(text));
    proxy.forbidden = /secrets$/;
    proxy.cut();
    await until(() => logged("forbidden by the test"), { what: () => operator.text.slice(-3_000) });
    await cluster.send("DELETE", `${BOXES}/sightless`);
    await until(() => logged("the cache of Secret is not current"), { what: () => operator.text.slice(-3_000) });
    expect((await cluster.exists(`${BOXES}/sightless`)).metadata.finalizers).toHaveLength(1);
    proxy.forbidden = undefined;
    await cluster.gone(`${BOXES}/sightless`, 60_000);
    expect(await cluster.get(secret)).toBeUndefined();
  }, 180_000);

  test("releases: what is let go stays, and belongs to nobody", async () => {
    await box(
      "free",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("free-a"), b: mapFor("free-b") });
      }),
    );
    await turn(
      "free",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("free-a"), b: undefined }, { release: ["b"] });
      }),
    );
    const free = (await cluster.exists(`${MAPS}/free-b`)) as Json & { metadata: { ownerReferences?: unknown } };
    expect(free.metadata.ownerReferences).toBeUndefined();
    expect(free.data).toEqual({ a: "1" });
    await turn("free");
    expect(await cluster.get(`${MAPS}/free-b`)).toBeDefined();
  });

  test("deletes in the reverse of `after`, and waits", async () => {
    const held = { ...mapFor("order-2"), metadata: { name: "order-2", finalizers: ["example.com/hold"] } };
    const after = { second: ["first"] } as const;
    await box(
      "order",
      remember(async (_, { children }) => {
        await children.sync({ first: mapFor("order-1"), second: held, third: mapFor("order-3") }, { after });
      }),
    );
    await turn(
      "order",
      remember(async (_, { children }) => {
        await children.sync({ first: undefined, second: undefined, third: mapFor("order-3") }, { after });
      }),
    );
    expect((await cluster.exists(`${MAPS}/order-2`)).metadata.deletionTimestamp).toBeString();
    expect((await cluster.exists(`${MAPS}/order-1`)).metadata.deletionTimestamp).toBeUndefined();
    await cluster.patch(`${MAPS}/order-2`, { metadata: { finalizers: null } });
    await cluster.gone(`${MAPS}/order-1`);
  });

  test("deletes a child also when others have just changed it", async () => {
    await box(
      "changed",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("changed-a"), b: mapFor("changed-b") });
      }),
    );
    proxy.delay = 1_000;
    await cluster.patch(`${MAPS}/changed-b`, { data: { b: "theirs" } });
    await turn(
      "changed",
      remember(async (_, { children }) => {
        await children.sync({ a: mapFor("changed-a") });
      }),
    );
    proxy.delay = 0;
    await cluster.gone(`${MAPS}/changed-b`);
    expect(failure("changed").name).toBe("none");
  });

  test("sets a Secret given as `stringData` back, and asks for nothing when it is right", async () => {
    const path = "/api/v1/namespaces/default/secrets/strings";
    await box(
      "strings",
      remember(async (_, { children }) => {
        await children.sync({
          secret: of(Secret, { metadata: { name: "strings" }, data: { b: "Yg==" }, stringData: { a: "a" } }),
        });
      }),
    );
    expect((await cluster.exists(path)).data).toEqual({ a: "YQ==", b: "Yg==" });
    await cluster.patch(path, { data: { a: "eA==" } });
    await cluster.exists(path, ({ data }) => data?.["a"] === "YQ==");
    await operator.idle();
    const before = writesFor("strings");
    await turn("strings");
    expect(writesFor("strings")).toBe(before);
  });

  test("tells of a child that somebody else keeps changing back", async () => {
    await box("fight", async (_, { children }) => {
      await children.sync({ a: mapFor("fight") });
    });
    for (let round = 0; round < 10; round++) {
      await cluster.patch(`${MAPS}/fight`, { data: { a: `theirs ${round}` } });
      await cluster.exists(`${MAPS}/fight`, ({ data }) => data?.["a"] === "1");
    }
    await operator.idle(); // the answer to the last apply comes after what others see of it
    const told = operator.lines("warn").filter(({ msg }) => msg.includes("keeps changing back"));
    expect(told).toMatchObject([{ child: "ConfigMap default/fight", differs: ["data.a"] }]);
  });
});
