import { defineController, of } from "binnacle";
import { ConfigMap, Deployment } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, type Box, boxController, BOXES, Lab, servers } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

/** An object that is deleted, and made again under its name, while a run for it is under way and the watch is late. */
describe.each(servers)("a later object of the name (%s server)", (server) => {
  const behaviours = new Behaviours();
  /** What happens during the first run of a Deployment. */
  let during: (() => Promise<void>) | undefined;
  let lab: Lab;

  const deployment = defineController({
    for: Deployment,
    async reconcile({ metadata }, { status }) {
      const meanwhile = during;
      during = undefined;
      if (meanwhile === undefined) return; // the new object's own run
      await meanwhile();
      status.set({ observedGeneration: metadata.generation ?? 0, replicas: 7 });
      await status.flush();
    },
  });
  const controllers = [boxController(behaviours, { owns: [ConfigMap] }), deployment];

  beforeAll(async () => {
    lab = await Lab.start(behaviours, controllers, { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  /** Deletes the object and makes it again, unseen by the process until `seen` is called. */
  async function replace(path: string): Promise<{ uid: string; seen: () => void }> {
    const { metadata, status: _, ...rest } = await lab.cluster.exists(path);
    lab.proxy.delay = 2_000;
    await lab.cluster.send("DELETE", path);
    await lab.cluster.gone(path);
    const body = { ...rest, metadata: { name: metadata.name } };
    const made = await lab.cluster.send("POST", path.slice(0, path.lastIndexOf("/")), { body });
    return { uid: made.metadata.uid, seen: () => void (lab.proxy.delay = 0) };
  }

  /**
   * Runs the object once, replaces it during the run, and gives what the new one looks like after the old one's run.
   */
  async function replacedDuring(
    name: string,
    rest: (context: Parameters<Parameters<typeof lab.box>[1]>[1]) => Promise<void>,
  ) {
    const done = Promise.withResolvers<{ uid: string }>();
    const first = async (box: Box, context: Parameters<typeof rest>[0]): Promise<void> => {
      const { uid, seen } = await replace(`${BOXES}/${box.metadata.name}`);
      behaviours.set(name, async () => {});
      try {
        await rest(context);
      } finally {
        setTimeout(() => (seen(), done.resolve({ uid })), 300);
      }
    };
    behaviours.set(name, first);
    await lab.cluster.send("POST", BOXES, {
      body: { apiVersion: "lab.binnacle.dev/v1", kind: "Box", metadata: { name }, spec: {} },
    });
    const { uid } = await done.promise;
    const now = await lab.get(name);
    expect(now.metadata.uid).toBe(uid);
    return now;
  }

  test("gets nothing of the status", async () => {
    const { status } = await replacedDuring("status", async ({ status }) => {
      status.set({ note: "of the first", turn: 1 });
      await status.flush();
    });
    expect(status).toBeUndefined();
    expect(behaviours.failure("status")).toBe("");
  });

  test("gets nothing of the status that is written when the run ends", async () => {
    const { status } = await replacedDuring("end", async ({ status }) => status.set({ note: "of the first" }));
    expect(status).toBeUndefined();
    expect(behaviours.failure("end")).toBe("");
  });

  test("gets nothing of the status of a built-in kind", async () => {
    const path = `${DEPLOYMENTS}/built-in`;
    const done = Promise.withResolvers<void>();
    during = async () => {
      const { seen } = await replace(path);
      setTimeout(() => (seen(), done.resolve()), 300);
    };
    const labels = { app: "built-in" };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
    };
    await lab.cluster.send("POST", DEPLOYMENTS, {
      body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "built-in" }, spec },
    });
    await done.promise;
    expect((await lab.cluster.exists(path)).status).toEqual({});
  });

  test("gets no child: the reference names the object that the run was for", async () => {
    let old = "";
    const { metadata } = await replacedDuring("owner", async ({ children }) => {
      await children.sync({ map: of(ConfigMap, { metadata: { name: "owner" }, data: { a: "1" } }) });
      const child = (await lab.cluster.exists(`${MAPS}/owner`)) as unknown as ConfigMap;
      old = child.metadata.ownerReferences?.[0]?.uid ?? "";
    });
    expect(old).not.toBe("");
    expect(old).not.toBe(metadata.uid);
  });

  test("as a child, is neither changed nor given a reference", async () => {
    const data = { a: "1" };
    await lab.box("child", async (box, { children }) => {
      await children.sync({
        map: of(ConfigMap, { metadata: { name: "child" }, data: { turn: String(box.spec.turn), ...data } }),
      });
    });
    lab.proxy.delayed = /configmaps/;
    lab.proxy.delay = 2_000;
    await lab.cluster.send("DELETE", `${MAPS}/child`);
    const made = await lab.cluster.send("POST", MAPS, {
      body: { metadata: { name: "child" }, data: { theirs: "yes" } },
    });
    await lab.turn("child");
    lab.proxy.delay = 0;
    lab.proxy.delayed = /./;
    const now = await lab.cluster.exists(`${MAPS}/child`);
    expect([now.metadata.resourceVersion, now.data]).toEqual([made.metadata.resourceVersion, { theirs: "yes" }]);
    expect(now.metadata).not.toHaveProperty("ownerReferences");
    expect(behaviours.failure("child")).toStartWith("NotOwned");
  });
});

/** Nothing collects garbage here, as on a cluster whose garbage collector has lost track of a child. */
describe.each(servers)("what an earlier object of the name has left behind (%s server)", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { owns: [ConfigMap] })], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  const syncs: Parameters<typeof lab.box>[1] = async ({ metadata: { name }, spec }, { children }) => {
    await children.sync({ map: of(ConfigMap, { metadata: { name }, data: { turn: String(spec.turn) } }) });
  };
  const child = async (name: string) => await lab.cluster.exists(`${MAPS}/${name}`);

  /** An object with a child, of which only the child is left. */
  async function leave(name: string) {
    await lab.box(name, syncs);
    const left = await child(name);
    await lab.cluster.send("DELETE", `${BOXES}/${name}`);
    await lab.cluster.gone(`${BOXES}/${name}`);
    await lab.operator.idle();
    return left;
  }

  test("is deleted, and the child made anew", async () => {
    const before = await leave("left");
    const { metadata } = await lab.box("left", syncs);
    await until(async () => (await child("left")).metadata.uid !== before.metadata.uid, { what: "another child" });
    expect(ownersOf(await child("left"))).toEqual([metadata.uid]);
    await until(() => behaviours.failure("left") === "", { what: () => behaviours.failure("left") });
    await lab.turn("left");
    expect((await child("left")).data).toEqual({ turn: "1" });
  });

  test("is deleted by a process that has not seen the earlier object", async () => {
    const before = await leave("restart");
    await lab.restart();
    const { metadata } = await lab.box("restart", syncs);
    await until(async () => (await child("restart")).metadata.uid !== before.metadata.uid, { what: "another child" });
    expect(ownersOf(await child("restart"))).toEqual([metadata.uid]);
  });

  test("stays when somebody has changed it since it was seen", async () => {
    const before = await leave("changed");
    let changed = false;
    lab.proxy.before = async ({ method, path }) => {
      if (method !== "DELETE" || path !== `${MAPS}/changed` || changed) return;
      changed = true;
      const references = [{ apiVersion: "v1", kind: "Node", name: "other", uid: "another" }];
      const operations = [{ op: "add", path: "/metadata/ownerReferences/-", value: references[0] }];
      await lab.cluster.send("PATCH", path, { body: operations, type: "application/json-patch+json" });
    };
    await lab.box("changed", syncs);
    expect(changed).toBe(true);
    expect(behaviours.failure("changed")).toContain("it is controlled by an earlier Box changed");
    expect((await child("changed")).metadata.uid).toBe(before.metadata.uid);
  });

  test("is waited for while something delays its deletion", async () => {
    const before = await leave("held");
    await lab.cluster.patch(`${MAPS}/held`, { metadata: { finalizers: ["lab.binnacle.dev/theirs"] } });
    const { metadata } = await lab.box("held", syncs);
    await until(async () => (await child("held")).metadata.deletionTimestamp !== undefined, { what: "its deletion" });
    await until(() => behaviours.failure("held").includes("an earlier Box held"), { what: "the reason" });
    await lab.cluster.patch(`${MAPS}/held`, { metadata: { finalizers: null } });
    const another = async () => (await lab.cluster.get(`${MAPS}/held`))?.metadata.uid !== before.metadata.uid;
    await until(another, { what: "the end of it" });
    await until(async () => (await lab.cluster.get(`${MAPS}/held`)) !== undefined, { what: "another child" });
    expect(ownersOf(await child("held"))).toEqual([metadata.uid]);
  });

  test("is not what a reference says that names another object", async () => {
    const owner = { apiVersion: "lab.binnacle.dev/v1", kind: "Box", uid: "earlier", controller: true };
    const others = { apiVersion: "v1", kind: "Node", name: "node", uid: "node" };
    const foreign: Readonly<Record<string, readonly object[]>> = {
      group: [{ ...owner, apiVersion: "other.binnacle.dev/v1", name: "group" }],
      name: [{ ...owner, name: "different" }],
      shared: [{ ...owner, name: "shared" }, others],
    };
    for (const [name, ownerReferences] of Object.entries(foreign)) {
      const body = { metadata: { name, ownerReferences }, data: { theirs: "yes" } };
      const made = await lab.cluster.send("POST", `${MAPS}?fieldManager=box`, { body });
      await lab.box(name, syncs);
      expect(behaviours.failure(name)).toStartWith("AlreadyOwned: Cannot take over");
      expect((await child(name)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    }
  });

  test("is not what another program has made", async () => {
    const reference = {
      apiVersion: "lab.binnacle.dev/v1",
      kind: "Box",
      name: "theirs",
      uid: "earlier",
      controller: true,
    };
    const body = { metadata: { name: "theirs", ownerReferences: [reference] }, data: { theirs: "yes" } };
    const made = await lab.cluster.send("POST", MAPS, { body });
    await lab.box("theirs", syncs);
    expect(behaviours.failure("theirs")).toContain("an earlier Box theirs, and will be collected");
    expect((await child("theirs")).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("is not the child of a later object that this process has not seen yet", async () => {
    const path = `${BOXES}/behind`;
    let later: { readonly uid: string; readonly child: string } | undefined;
    let refusal = "";
    const done = Promise.withResolvers<void>();
    await lab.box("behind", syncs);
    const { annotations } = (await child("behind")).metadata as { readonly annotations?: object };
    behaviours.set("behind", async (box, context) => {
      if (later !== undefined) return; // the later object's own run
      lab.proxy.delay = 2_000;
      await lab.cluster.send("DELETE", path);
      await lab.cluster.gone(path);
      const { metadata } = await lab.cluster.send("POST", BOXES, {
        body: { apiVersion: "lab.binnacle.dev/v1", kind: "Box", metadata: { name: "behind" }, spec: {} },
      });
      // What another process would do that leads meanwhile.
      await lab.cluster.send("DELETE", `${MAPS}/behind`);
      const reference = { apiVersion: "lab.binnacle.dev/v1", kind: "Box", name: "behind", uid: metadata.uid };
      const ownerReferences = [{ ...reference, controller: true, blockOwnerDeletion: true }];
      const made = await lab.cluster.send("POST", `${MAPS}?fieldManager=box`, {
        body: { metadata: { name: "behind", annotations, ownerReferences }, data: { turn: "0" } },
      });
      later = { uid: metadata.uid, child: made.metadata.uid };
      try {
        await syncs(box, context);
      } catch (error) {
        refusal = String(error);
      }
      lab.proxy.delay = 0;
      done.resolve();
    });
    await lab.cluster.patch(path, { spec: { turn: 1 } });
    await done.promise;
    expect(refusal).toContain("it is controlled by another Box behind: this one has been deleted");
    expect((await child("behind")).metadata.uid).toBe(later!.child);
    expect(ownersOf(await child("behind"))).toEqual([later!.uid]);
  });
});

describe.each(servers)("finalizers of a later object of the name (%s server)", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    const finalize = async (): Promise<void> => {};
    lab = await Lab.start(behaviours, [boxController(behaviours, { finalize })], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  test("are neither added nor removed by the run of the one before", async () => {
    const path = `${BOXES}/finalizer`;
    const before = lab.proxy.seen.length;
    lab.proxy.delayed = /boxes/;
    behaviours.set("finalizer", async () => {});
    // The first patch finds another object under the name: it fails, and so does everything after it.
    let replaced: string | undefined;
    lab.proxy.fault = ({ method, path: asked }) => {
      if (method !== "PATCH" || asked !== path || replaced !== undefined) return undefined;
      replaced = "";
      lab.proxy.delay = 1_000;
      return { kind: "refuse", code: 429, retryAfter: 0 };
    };
    await lab.cluster.send("POST", BOXES, {
      body: { apiVersion: "lab.binnacle.dev/v1", kind: "Box", metadata: { name: "finalizer" }, spec: {} },
    });
    await until(() => replaced !== undefined, { what: "the first patch" });
    await lab.cluster.send("DELETE", path);
    const made = await lab.cluster.send("POST", BOXES, {
      body: {
        apiVersion: "lab.binnacle.dev/v1",
        kind: "Box",
        metadata: { name: "finalizer", finalizers: ["lab.binnacle.dev/theirs"] },
        spec: {},
      },
    });
    await Bun.sleep(400);
    const patches = lab.proxy.seen.slice(before).filter((one) => one.method === "PATCH" && one.path === path);
    expect(patches.length).toBeGreaterThan(0);
    expect(patches.every(({ code }) => code >= 400)).toBe(true);
    expect((await lab.cluster.exists(path)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    lab.proxy.delay = 0;
  });
});

function ownersOf({ metadata }: { readonly metadata: object }): readonly string[] {
  const { ownerReferences = [] } = metadata as { readonly ownerReferences?: readonly { readonly uid: string }[] };
  return ownerReferences.map(({ uid }) => uid);
}
