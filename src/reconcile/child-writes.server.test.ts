import { of } from "binnacle";
import { ConfigMap, Deployment } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, Lab, servers } from "../../tests/support/integration/lab.ts";
import type { ShapeOf } from "../controller/definition.ts";

type Owned = ShapeOf<typeof ConfigMap> | ShapeOf<typeof Deployment>;

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const MERGE = "application/merge-patch+json";

const mapFor = (name: string, data: Record<string, string>) => of(ConfigMap, { metadata: { name }, data });
const deploymentFor = (name: string, image: string, labels?: Record<string, string>) =>
  of(Deployment, {
    metadata: { name, ...(labels && { labels }) },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image }] } },
    },
  });

describe.each(servers)("how children are written (%s server)", (server) => {
  const behaviours = new Behaviours<Owned>();
  let lab: Lab<Owned>;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { owns: [ConfigMap, Deployment] })], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  const syncMap = (name: string, data: Record<string, string>) =>
    lab.turn(name, async (_, { children }) => void (await children.sync({ map: mapFor(name, data) })));
  const makeMap = (name: string, data: Record<string, string>) =>
    lab.box(name, async (_, { children }) => void (await children.sync({ map: mapFor(name, data) })));
  /** What was sent about the child since, as `METHOD type`. */
  const sent = (path: string, from: number): string[] =>
    lab.proxy.seen
      .slice(from)
      .filter((one) => one.path === path || (one.method === "POST" && path.startsWith(`${one.path}/`)))
      .map(({ method, query }) => (query.has("force") ? "APPLY" : method));
  const managers = async (path: string): Promise<string[]> => {
    const { metadata } = (await lab.cluster.exists(path)) as unknown as ConfigMap;
    return metadata.managedFields!.map(({ manager, operation }) => `${manager} ${operation}`).sort();
  };

  test("creates by POST, changes by a merge patch, and applies only to remove", async () => {
    const path = `${MAPS}/cheap`;
    let from = lab.proxy.seen.length;
    await makeMap("cheap", { a: "1", b: "1" });
    expect(sent(path, from)).toEqual(["POST"]);
    from = lab.proxy.seen.length;
    await syncMap("cheap", { a: "2", b: "1", c: "1" });
    expect(sent(path, from)).toEqual(["PATCH"]);
    expect(await managers(path)).toEqual(["box Update"]);
    await lab.cluster.send("PATCH", `${path}?fieldManager=theirs`, { body: { data: { x: "y" } }, type: MERGE });
    await lab.operator.idle();
    from = lab.proxy.seen.length;
    await syncMap("cheap", { a: "2" });
    expect(sent(path, from)).toEqual(["GET", "PATCH", "APPLY"]);
    expect((await lab.cluster.exists(path)).data).toEqual({ a: "2", x: "y" });
    expect(await managers(path)).toEqual(["box Apply", "theirs Update"]);
    from = lab.proxy.seen.length;
    await syncMap("cheap", { b: "3" });
    expect(sent(path, from)).toEqual(["APPLY"]);
    expect((await lab.cluster.exists(path)).data).toEqual({ b: "3", x: "y" });
  });

  test("leaves defaults and the items of others alone when it changes a list", async () => {
    const path = `${DEPLOYMENTS}/listed`;
    await lab.box("listed", async (_, { children }) => {
      await children.sync({ web: deploymentFor("listed", "a:1") });
    });
    const sidecar = { spec: { template: { spec: { containers: [{ name: "sidecar", image: "s" }] } } } };
    const type = "application/strategic-merge-patch+json";
    await lab.cluster.send("PATCH", `${path}?fieldManager=theirs`, { body: sidecar, type });
    await lab.cluster.send("PATCH", `${path}?fieldManager=theirs`, { body: { spec: { replicas: 3 } }, type: MERGE });
    await lab.operator.idle();
    const from = lab.proxy.seen.length;
    await lab.turn("listed", async (_, { children }) => {
      await children.sync({ web: deploymentFor("listed", "a:2") });
    });
    expect(sent(path, from)).toEqual(["PATCH"]);
    const { spec } = (await lab.cluster.exists(path)) as unknown as Deployment;
    const images = spec.template.spec.containers.map(({ name, image }) => `${name} ${image}`).sort();
    expect([images, spec.replicas]).toEqual([["sidecar s", "web a:2"], 3]);
  });

  test("a restart writes nothing, and sees what was removed and what was changed meanwhile", async () => {
    const path = `${DEPLOYMENTS}/again`;
    await lab.box("again", async (_, { children }) => {
      await children.sync({
        web: deploymentFor("again", "a:1", { team: "x", tier: "y" }),
        map: mapFor("again", { a: "1" }),
      });
    });
    const before = (await lab.cluster.exists(path)).metadata.resourceVersion;
    let from = lab.proxy.seen.length;
    await lab.restart();
    expect([...sent(path, from), ...sent(`${MAPS}/again`, from)]).toEqual([]);
    expect((await lab.cluster.exists(path)).metadata.resourceVersion).toBe(before);
    behaviours.set("again", async (_, { children }) => {
      await children.sync({ web: deploymentFor("again", "a:1", { team: "x" }), map: mapFor("again", {}) });
    });
    from = lab.proxy.seen.length;
    await lab.restart();
    expect((await lab.cluster.exists(path)).metadata.labels).toEqual({ team: "x" });
    expect((await lab.cluster.exists(`${MAPS}/again`)).data).toBeUndefined();
    behaviours.set("again", async () => {});
  });

  test("what the author writes to a child by hand stays", async () => {
    const path = `${MAPS}/by-hand`;
    const key = { namespace: "default", name: "by-hand" };
    await makeMap("by-hand", { a: "1" });
    await lab.turn("by-hand", async (_, { children, client }) => {
      const { map } = await children.sync({ map: mapFor("by-hand", { a: "1" }) });
      await client.update(ConfigMap, { ...map, metadata: { ...map.metadata, labels: { updated: "yes" } } });
      const body = { metadata: { annotations: { patched: "yes" } } };
      await client.patch(ConfigMap, key, { type: "merge", body });
    });
    expect(behaviours.failure("by-hand")).toBe("");
    await syncMap("by-hand", { b: "2" });
    const { metadata, data } = (await lab.cluster.exists(path)) as unknown as ConfigMap;
    expect([data, metadata.labels, metadata.annotations]).toEqual([
      { b: "2" },
      { updated: "yes" },
      { patched: "yes", "binnacle.dev/applied.box": "(data(b))", "binnacle.dev/child": expect.stringMatching(/^map@/) },
    ]);
  });

  test("`formerly` takes over what an earlier name created, and removes what the new one does not want", async () => {
    await makeMap("renamed", { a: "1", b: "1" });
    behaviours.set("renamed", async (_, { children }) => {
      await children.sync({ map: mapFor("renamed", { b: "2" }) });
    });
    const owns = [ConfigMap, Deployment];
    await lab.restart([boxController(behaviours, { name: "new", formerly: ["box"], owns })]);
    expect((await lab.cluster.exists(`${MAPS}/renamed`)).data).toEqual({ b: "2" });
    expect(await managers(`${MAPS}/renamed`)).toEqual(["new Apply"]);
    await lab.restart();
  });

  test("a field that the kind does not have is refused, and nothing is created", async () => {
    const wrong = { ...mapFor("unknown", { a: "1" }), dta: { b: "2" } };
    await lab.box("unknown", async (_, { children }) => void (await children.sync({ map: wrong })));
    expect(behaviours.failure("unknown")).toContain('unknown field "dta"');
    expect(await lab.cluster.get(`${MAPS}/unknown`)).toBeUndefined();
    behaviours.set("unknown", async () => {});
  });

  test("what was let go and is taken back is held as if it had been applied", async () => {
    const path = `${MAPS}/released`;
    await lab.box("released", async (_, { children }) => {
      await children.sync({ map: mapFor("released", { a: "1", b: "1" }), other: mapFor("released-2", {}) });
    });
    await lab.turn("released", async (_, { children }) => {
      await children.sync({ map: undefined, other: mapFor("released-2", {}) }, { release: ["map"] });
    });
    expect((await lab.cluster.exists(path)).metadata).not.toHaveProperty("ownerReferences");
    await lab.turn("released", async (_, { children }) => {
      await children.sync({ map: mapFor("released", { a: "1" }), other: mapFor("released-2", {}) }, { adopt: true });
    });
    expect(behaviours.failure("released")).toBe("");
    expect((await lab.cluster.exists(path)).data).toEqual({ a: "1" });
  });

  test("a dry run is checked by the server, and changes neither children nor status", async () => {
    await lab.box("dry", async (_, { children, status }) => {
      await children.sync({ map: mapFor("dry", { a: "1" }), other: mapFor("dry-other", {}) });
      status.set({ note: "real" });
    });
    const { status: before } = await lab.get("dry");
    const map = await lab.cluster.exists(`${MAPS}/dry`);
    const from = lab.proxy.seen.length;
    await lab.turn("dry", async (box, { children, status, client }) => {
      const dry = { dryRun: true } as const;
      const set = { map: mapFor("dry", { a: "2" }), more: mapFor("dry-more", { a: "1" }) };
      const { map, more } = await children.sync(set, dry);
      expect([map.data, more.data]).toEqual([{ a: "2" }, { a: "1" }]);
      status.set({ note: "tried" });
      await status.flush(dry);
      await client.with(dry).create(ConfigMap, { metadata: { namespace: "default", name: "dry-client" } });
      const wrong = { ...mapFor("dry", { a: "1" }), dta: {} };
      expect(
        await children.sync({ wrong: { ...wrong, metadata: { name: "dry-wrong" } } }, dry).catch(String),
      ).toContain("dta");
      expect((await lab.get("dry")).status).toEqual(before as never);
      status.set({ note: `turn ${box.spec.turn}` });
      await children.sync({ map: mapFor("dry", { a: "1" }), other: mapFor("dry-other", {}) });
    });
    expect(behaviours.failure("dry")).toBe("");
    const writes = lab.proxy.seen.slice(from).filter(({ method }) => method !== "GET");
    const real = writes.filter(
      ({ query, body }) => query.get("dryRun") !== "All" && !body.includes('"dryRun":["All"]'),
    );
    expect(real.map(({ method, path }) => `${method} ${path}`)).toEqual([expect.stringContaining("boxes/dry/status")]);
    expect(writes.map(({ method }) => method)).toContain("DELETE");
    expect((await lab.cluster.exists(`${MAPS}/dry`)).metadata.resourceVersion).toBe(map.metadata.resourceVersion);
    await lab.cluster.exists(`${MAPS}/dry-other`);
    for (const name of ["dry-more", "dry-client", "dry-wrong"])
      expect(await lab.cluster.get(`${MAPS}/${name}`)).toBeUndefined();
    expect((await lab.get("dry")).status).toMatchObject({ note: "turn 1" });
  });
});
