import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defineController, defineResource, type Resource, z } from "binnacle";
import * as kinds from "binnacle/resources";
import { until } from "../../scripts/acceptance/binary.ts";
import { available, Cluster } from "../../scripts/acceptance/cluster.ts";
import { FaultyProxy } from "../../scripts/integration/faulty-proxy.ts";
import { InProcess } from "../../scripts/integration/in-process.ts";
import { notOwned, typicalObjects } from "../../scripts/integration/typical-objects.ts";

const Everything = defineResource({
  group: "converged.binnacle.dev",
  version: "v1",
  kind: "Everything",
  names: { plural: "everythings" },
  scope: "Cluster",
  spec: z.object({ turn: z.int().default(0) }),
});
const EVERYTHING = "/apis/converged.binnacle.dev/v1/everythings";

/** Anybody's second apply, kubectl's too, gives these a new version once, with no difference that the server shows. */
const RENEWED = /persistentvolumeclaims|validatingadmissionpolicies/;

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
      within: 20_000,
      what: () => `a sync: ${failures.at(-1)}; refused: ${refused()}`,
    });
    await operator!.idle(500);
  };
  const refused = (): string => {
    const codes = new Map(proxy.exchanges.map(({ path, code }) => [path, code]));
    return [...codes]
      .filter(([, code]) => code >= 400)
      .map(([path, code]) => `${path} ${code}`)
      .join(", ");
  };
  /** The children as they are, and their versions. */
  const children = async (): Promise<{ objects: Record<string, unknown>; versions: Record<string, string> }> => {
    const objects: Record<string, unknown> = {};
    const versions: Record<string, string> = {};
    for (const { path } of proxy.exchanges.filter(({ method, code }) => method === "PATCH" && code === 201)) {
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
  }, 120_000);
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
    const created = proxy.exchanges.filter(({ path, code }) => code === 201 && !path.includes("everythings."));
    expect(created).toHaveLength(typicalObjects.length);
    await cluster.patch(`${EVERYTHING}/all`, { spec: { turn: 1 } });
    await runs();
    const writes = proxy.writes.length;
    await cluster.patch(`${EVERYTHING}/all`, { spec: { turn: 2 } });
    await runs();
    expect(proxy.writes.slice(writes)).toEqual([]);

    const before = await children();
    await operator![Symbol.asyncDispose]();
    const old = proxy.writes.length;
    const again = runs();
    await start();
    await again;
    const restarted = proxy.writes.slice(old);
    console.log(`${typicalObjects.length} kinds; ${restarted.length} writes after a restart`);
    expect(restarted.length).toBe(new Set(restarted).size); // at most one each
    const after = await children();
    expect(after.objects).toEqual(before.objects);
    const renewed = Object.keys(after.versions).filter((path) => after.versions[path] !== before.versions[path]);
    expect(renewed.filter((path) => !RENEWED.test(path))).toEqual([]);
    await cluster.patch(`${EVERYTHING}/all`, { spec: { turn: 3 } });
    await runs();
    expect(proxy.writes.slice(old)).toEqual(restarted);
  }, 180_000);
});
