import { defineController, defineResource, type Resource, z } from "binnacle";
import * as kinds from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, Cluster } from "../../tests/support/cluster.ts";
import { FaultyProxy } from "../../tests/support/integration/faulty-proxy.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { notOwned, typicalObjects } from "../../tests/support/integration/typical-objects.ts";
import { until } from "../../tests/support/until.ts";

const Everything = defineResource({
  group: "converged.binnacle.dev",
  version: "v1",
  kind: "Everything",
  names: { plural: "everythings" },
  scope: "Cluster",
  spec: z.object({ turn: z.int().default(0) }),
});
const EVERYTHING = "/apis/converged.binnacle.dev/v1/everythings";

const owns = Object.entries(kinds)
  .filter(([name, handle]) => !notOwned.has(name) && "kind" in handle)
  .map(([, handle]) => handle as Resource);
let synced = 0;
const failures: string[] = [];

const everything = defineController({
  for: Everything,
  owns,
  async reconcile(_, { children }) {
    try {
      await children.sync({ all: typicalObjects });
      synced++;
    } catch (error) {
      failures.push(String(error));
      throw error;
    }
  },
});

describe.skipIf(!available)("a converged set of children of every built-in kind", () => {
  let cluster: Cluster;
  let proxy: FaultyProxy;
  let operator: InProcess | undefined;

  const start = async (): Promise<void> => {
    operator = await InProcess.start({ cluster: proxy.cluster, definitions: [Everything, everything] });
  };
  const runs = async (): Promise<void> => {
    const before = synced;
    await until(() => synced > before, {
      within: 90_000,
      what: () => `a sync: ${failures.at(-1)}; refused: ${refused()}`,
    });
    await operator!.idle(500);
  };
  const turn = async (to: number): Promise<void> => {
    const next = runs(); // a run without a request may be over before the answer is here
    await cluster.patch(`${EVERYTHING}/all`, { spec: { turn: to } });
    await next;
  };
  const refused = (): string => {
    const codes = new Map(proxy.seen.map(({ path, code }) => [path, code]));
    return [...codes]
      .filter(([, code]) => code >= 400)
      .map(([path, code]) => `${path} ${code}`)
      .join(", ");
  };
  /** The paths of the children: each is created once, and says its name. */
  const created = (): readonly string[] =>
    proxy.seen
      .filter(({ method, code, path }) => method === "POST" && code === 201 && !path.includes("everythings"))
      .map(({ path, body }) => `${path}/${(JSON.parse(body) as { metadata: { name: string } }).metadata.name}`);
  /** The children as they are, and their versions. */
  const children = async (): Promise<{ objects: Record<string, unknown>; versions: Record<string, string> }> => {
    const objects: Record<string, unknown> = {};
    const versions: Record<string, string> = {};
    for (const path of created()) {
      const { metadata, ...rest } = (await cluster.get(path))!;
      const { resourceVersion, managedFields: _, ...meta } = metadata as typeof metadata & { managedFields: unknown };
      objects[path] = { ...rest, metadata: meta };
      versions[path] = resourceVersion;
    }
    return { objects, versions };
  };

  beforeAll(async () => {
    cluster = await Cluster.start();
    proxy = await FaultyProxy.start(cluster.plane);
  }, 240_000);
  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("names every kind", () => {
    const typical = new Set<string>(typicalObjects.map(({ kind }) => kind));
    expect(owns.map(({ kind }) => kind).filter((kind) => !typical.has(kind))).toEqual([]);
    expect(owns).toHaveLength(typicalObjects.length);
  });

  test("needs no write in a second reconcile, and none after a restart changes anything", async () => {
    await start();
    await cluster.send("POST", EVERYTHING, {
      body: { apiVersion: Everything.apiVersion, kind: "Everything", metadata: { name: "all" }, spec: {} },
    });
    await runs();
    expect(created()).toHaveLength(typicalObjects.length);
    const paths = new Set(created());
    expect(proxy.seen.filter(({ method, path }) => method === "GET" && paths.has(path))).toEqual([]); // none is read
    await turn(1);
    const writes = proxy.writes.length;
    await turn(2);
    expect(proxy.writes.slice(writes)).toEqual([]);

    const before = await children();
    await operator![Symbol.asyncDispose]();
    const old = proxy.writes.length;
    const again = runs();
    await start();
    await again;
    const restarted = proxy.writes.slice(old);
    console.log(`${typicalObjects.length} kinds; ${restarted.length} writes after a restart`);
    expect(restarted.filter((write) => !write.includes("everythings."))).toEqual([]);
    const after = await children();
    expect(after.objects).toEqual(before.objects);
    expect(after.versions).toEqual(before.versions);
    await turn(3);
    expect(proxy.writes.slice(old)).toEqual(restarted);
  }, 180_000);

  test("sets back what was changed while nobody watched, also where the server writes values otherwise", async () => {
    await operator![Symbol.asyncDispose]();
    const pods = "/apis/apps/v1/namespaces/default/deployments/typical";
    const limits = (cpu: string) => ({
      spec: { template: { spec: { containers: [{ name: "web", resources: { limits: { cpu } } }] } } },
    });
    const type = "application/strategic-merge-patch+json";
    await cluster.send("PATCH", pods, { body: limits("2"), type });
    const old = proxy.writes.length;
    const again = runs();
    await start();
    await again;
    expect(proxy.writes.slice(old).filter((write) => !write.includes("everythings."))).toEqual([`PATCH ${pods}`]);
    expect(JSON.stringify((await cluster.get(pods))!.spec)).toContain('"limits":{"cpu":"1"');
  }, 180_000);
});
