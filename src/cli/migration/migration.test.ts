import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { createAuthority, issue } from "binnacle-apiserver";
import { isConflict } from "../../kube/errors/api-error.ts";
import { createTransport, type KubeRequest, type Transport } from "../../kube/transport/transport.ts";
import { crdOf } from "../../resource/crd.ts";
import { withConversion } from "../../resource/crd-conversion.ts";
import { defineResource, definitionOf } from "../../resource/define.ts";
import { CustomResourceDefinition } from "../../resource/builtin/apiextensions.ts";
import { resource } from "../../resource/handle.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster, type TestCluster } from "../../testing/start-cluster.ts";
import { convertObject } from "../../webhook/conversion/convert-object.ts";
import type { WireObject } from "../../webhook/conversion/wire-object.ts";
import { type CustomDefinition, findDefinition } from "./custom-definition.ts";
import { migrate, type MigrationOptions, type Progress } from "./migration.ts";

const versions = {
  v1: {
    spec: z.object({ size: z.string() }),
    toHub: ({ spec }: { readonly spec: { readonly size: string } }) => ({ spec: { width: Number(spec.size) } }),
    fromHub: ({ spec }: { readonly spec: { readonly width: number } }) => ({ spec: { size: String(spec.width) } }),
  },
  v2: { spec: z.object({ width: z.int() }) },
};
const names = { group: "migration.example.com", kind: "Widget" } as const;
const before = defineResource({ ...names, versions, hub: "v2", storage: "v1" });
const Widget = defineResource({ ...names, versions, hub: "v2", storage: "v2" });

interface Review {
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly WireObject[];
  };
}

function converted({ request: { uid, desiredAPIVersion, objects } }: Review): object {
  const version = desiredAPIVersion.slice(names.group.length + 1);
  const convertedObjects = objects.map((object) => convertObject(definitionOf(Widget)!, object, { to: version }));
  const response = { uid, convertedObjects, result: { status: "Success" } };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response };
}

let webhook: ReturnType<typeof Bun.serve>;
let clientConfig: { url: string; caBundle: string };

beforeAll(() => {
  const authority = createAuthority("webhook");
  const tls = issue(authority, { subject: { name: "webhook" }, hosts: ["127.0.0.1"] });
  webhook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls,
    fetch: async (request) => Response.json(converted((await request.json()) as Review)),
  });
  clientConfig = {
    url: `https://127.0.0.1:${webhook.port}/convert`,
    caBundle: Buffer.from(authority.cert).toString("base64"),
  };
});

afterAll(() => webhook.stop(true));

/** Objects that are stored in v1, under a definition whose storage version is now v2. */
async function world(objects: number): Promise<{ cluster: TestCluster; transport: Transport } & AsyncDisposable> {
  const cluster = await startCluster({ pods: false });
  const transport = createTransport(cluster.config);
  await cluster.client.apply(CustomResourceDefinition, withConversion(crdOf(before), clientConfig), { force: true });
  for (let index = 0; index < objects; index++) await eventually(() => create(cluster, index));
  await cluster.client.apply(CustomResourceDefinition, withConversion(crdOf(Widget), clientConfig), { force: true });
  await eventually(async () => {
    const { status } = await cluster.client.get(CustomResourceDefinition, { name: "widgets.migration.example.com" });
    expect(status?.storedVersions).toEqual(["v1", "v2"]);
  });
  return {
    cluster,
    transport,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await cluster.stop();
    },
  };
}

function create({ client }: TestCluster, index: number): Promise<unknown> {
  const name = `widget-${String(index).padStart(4, "0")}`;
  return client.create(Widget, { metadata: { namespace: "default", name }, spec: { width: index } });
}

async function run(transport: Pick<Transport, "request" | "reachability">, more: Partial<MigrationOptions> = {}) {
  const definition = await findDefinition(transport, "Widget");
  const base = { pageSize: 10, concurrency: 4, dryRun: false, signal: new AbortController().signal, retryAfter: 1 };
  return migrate({ ...base, transport, definition, onProgress: () => {}, ...more });
}

/** Counts the objects whose resource version differs from before. */
async function written(cluster: TestCluster, since: ReadonlyMap<string, string>): Promise<number> {
  const now = await versionsOf(cluster);
  return [...now].filter(([name, version]) => since.get(name) !== version).length;
}

async function versionsOf({ client }: TestCluster): Promise<ReadonlyMap<string, string>> {
  const objects = await client.list(Widget);
  return new Map(objects.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

/** Returns the same transport, which also shows each request to the test. */
function watched(
  transport: Transport,
  look: (request: KubeRequest) => unknown,
): Pick<Transport, "request" | "reachability"> {
  return {
    reachability: transport.reachability,
    request: async <T>(request: KubeRequest): Promise<T> => {
      await look(request);
      return transport.request<T>(request);
    },
  };
}

const isRewrite = ({ method, path }: KubeRequest): boolean => method === "PATCH" && path.includes("/namespaces/");
const storedVersions = async (transport: Transport): Promise<CustomDefinition["status"]> =>
  (await findDefinition(transport, "widgets.migration.example.com")).status;

describe("findDefinition", () => {
  test("finds a kind by any of its names, and says when there is none", async () => {
    await using w = await world(0);
    for (const name of [
      "Widget",
      "widget",
      "widgets",
      "Widget.migration.example.com",
      "widgets.migration.example.com",
    ]) {
      expect((await findDefinition(w.transport, name)).metadata.name).toBe("widgets.migration.example.com");
    }
    for (const name of ["Gadget", "widgets.example.com"]) {
      await expect(findDefinition(w.transport, name)).rejects.toThrow(`Cannot find the kind '${name}'`);
    }
  });
});

describe("migrate", () => {
  test("rewrites every object once, tells how far it is, and prunes storedVersions", async () => {
    await using w = await world(25);
    const since = await versionsOf(w.cluster);
    const progress: Progress[] = [];
    const result = await run(w.transport, { onProgress: (one) => void progress.push(one) });
    expect(result).toMatchObject({ done: 25, total: 25, failed: 0, interrupted: false, storedVersions: ["v2"] });
    expect(progress.map(({ done, total }) => [done, total])).toEqual(
      expect.arrayContaining([
        [10, 25],
        [20, 25],
        [25, 25],
      ]),
    );
    expect(await written(w.cluster, since)).toBe(25);
    const { metadata, status } = await findDefinition(w.transport, "Widget");
    expect(status?.storedVersions).toEqual(["v2"]);
    expect(metadata.annotations?.["binnacle.dev/migration"]).toBeUndefined();
    const objects = await w.cluster.client.list(Widget);
    expect(objects.map(({ spec }) => spec.width)).toEqual(Array.from({ length: 25 }, (_, index) => index));
  });

  test("writes nothing anew that is stored in the version already", async () => {
    await using w = await world(3);
    await run(w.transport);
    const since = await versionsOf(w.cluster);
    await run(w.transport);
    expect(await written(w.cluster, since)).toBe(0);
  });

  test("managers that are recorded in a version which is not served are moved, and applies go on without it", async () => {
    await using w = await world(3);
    const { client } = w.cluster;
    const old = resource("migration.example.com/v1", "Widget");
    const key = { namespace: "default", name: "widget-0001" };
    await client.apply(old, { metadata: key, spec: { size: "7" } }, { force: true });
    const definition = (versions: readonly ("v1" | "v2")[], served: boolean): object => {
      const crd = withConversion(crdOf(Widget), clientConfig);
      const kept = crd.spec.versions.filter(({ name }) => versions.some((one) => one === name));
      return { ...crd.spec, versions: kept.map((one) => ({ ...one, served: one.name === "v2" || served })) };
    };
    const change = (versions: readonly ("v1" | "v2")[], served: boolean) => {
      const body = {
        spec: {
          ...definition(versions, served),
          ...(versions.length === 1 && { conversion: { strategy: "None", webhook: null } }),
        },
      };
      const name = { name: "widgets.migration.example.com" };
      return client.patch(CustomResourceDefinition, name, { type: "merge", body });
    };
    await change(["v1", "v2"], false);
    expect(await run(w.transport)).toMatchObject({ done: 3, failed: 0, managersMoved: 1, storedVersions: ["v2"] });
    const since = await versionsOf(w.cluster);
    expect(await run(w.transport)).toMatchObject({ done: 3, managersMoved: 0 });
    expect(await written(w.cluster, since)).toBe(0);
    const { metadata } = await client.get(Widget, key);
    expect(metadata.managedFields?.map(({ apiVersion }) => apiVersion)).not.toContain("migration.example.com/v1");
    await change(["v2"], true);
    await eventually(() => client.apply(Widget, { metadata: key, spec: { width: 8 } }, { force: true }));
    expect((await client.get(Widget, key)).spec.width).toBe(8);
  });

  test("a dry run changes nothing", async () => {
    await using w = await world(5);
    const since = await versionsOf(w.cluster);
    expect(await run(w.transport, { dryRun: true })).toMatchObject({ done: 5, failed: 0 });
    expect(await written(w.cluster, since)).toBe(0);
    expect(await storedVersions(w.transport)).toEqual({
      ...(await storedVersions(w.transport)),
      storedVersions: ["v1", "v2"],
    });
  });

  test("goes on where it was interrupted", async () => {
    await using w = await world(35);
    const stop = new AbortController();
    let rewrites = 0;
    const counting = watched(w.transport, (request) => {
      if (isRewrite(request) && ++rewrites === 15) stop.abort();
    });
    const first = await run(counting, { signal: stop.signal });
    expect(first).toMatchObject({ interrupted: true, done: 20 });
    expect((await storedVersions(w.transport))?.storedVersions).toEqual(["v1", "v2"]);
    rewrites = 0;
    const second = await run(counting);
    expect(second).toMatchObject({ interrupted: false, done: 35, total: 35, storedVersions: ["v2"] });
    expect(rewrites).toBe(15);
  });

  test("begins anew when objects may have been stored in another version since it was interrupted", async () => {
    await using w = await world(15);
    const stop = new AbortController();
    await run(
      watched(w.transport, (request) => isRewrite(request) && stop.abort()),
      { signal: stop.signal },
    );
    const { client } = w.cluster;
    await client.apply(CustomResourceDefinition, withConversion(crdOf(before), clientConfig), { force: true });
    await client.apply(CustomResourceDefinition, withConversion(crdOf(Widget), clientConfig), { force: true });
    let rewrites = 0;
    await run(watched(w.transport, (request) => isRewrite(request) && rewrites++));
    expect(rewrites).toBe(15);
  });

  test("a write of somebody else stands, and counts as done", async () => {
    await using w = await world(20);
    const { client } = w.cluster;
    const key = { namespace: "default", name: "widget-0012" };
    let touched = false;
    const refused: unknown[] = [];
    const racing = watched(w.transport, async (request) => {
      if (touched || !isRewrite(request)) return;
      touched = true;
      await client.patch(Widget, key, { type: "merge", body: { spec: { width: 1_000 } } });
    });
    const noted = {
      reachability: racing.reachability,
      request: <T>(request: KubeRequest) =>
        racing.request<T>(request).catch((error: unknown) => {
          refused.push(error);
          throw error;
        }),
    };
    expect(await run(noted, { pageSize: 100 })).toMatchObject({ done: 20, failed: 0, storedVersions: ["v2"] });
    expect(refused.length).toBe(1);
    expect(isConflict(refused[0])).toBe(true);
    expect((await client.get(Widget, key)).spec.width).toBe(1_000);
  });

  test("an object that goes meanwhile is no failure", async () => {
    await using w = await world(5);
    const key = { namespace: "default", name: "widget-0003" };
    let gone = false;
    const racing = watched(w.transport, async (request) => {
      if (gone || !isRewrite(request)) return;
      gone = true;
      await w.cluster.client.delete(Widget, key);
    });
    expect(await run(racing)).toMatchObject({ failed: 0, storedVersions: ["v2"] });
  });

  test("what is refused is told, keeps storedVersions, and is tried again", async () => {
    await using w = await world(25);
    const fault = w.cluster.faults.refuse(403, {
      verbs: ["patch"],
      on: ({ name }) => name === "widget-0015",
      times: Infinity,
    });
    const result = await run(w.transport);
    expect(result).toMatchObject({ done: 25, failed: 1, storedVersions: ["v1", "v2"] });
    expect(result.failures).toEqual([{ object: "default/widget-0015", message: expect.stringContaining("403") }]);
    fault[Symbol.dispose]();
    let rewrites = 0;
    const again = await run(watched(w.transport, (request) => isRewrite(request) && rewrites++));
    expect(again).toMatchObject({ done: 25, failed: 0, storedVersions: ["v2"] });
    expect(rewrites).toBe(15);
  });

  test("what fails for a moment is tried again", async () => {
    await using w = await world(5);
    using _ = w.cluster.faults.refuse(500, { kind: Widget, verbs: ["patch"], times: 3 });
    expect(await run(w.transport)).toMatchObject({ done: 5, failed: 0, storedVersions: ["v2"] });
  });

  test("refuses to finish when the storage version has changed meanwhile", async () => {
    await using w = await world(15);
    let changed = false;
    const racing = watched(w.transport, async (request) => {
      if (changed || !isRewrite(request)) return;
      changed = true;
      const crd = withConversion(crdOf(before), clientConfig);
      await w.cluster.client.apply(CustomResourceDefinition, crd, { force: true });
    });
    await expect(run(racing)).rejects.toThrow("has changed meanwhile; run it again");
    expect((await storedVersions(w.transport))?.storedVersions).toContain("v1");
  });

  test("loses nothing while others write", async () => {
    await using w = await world(60);
    const { client } = w.cluster;
    const stop = new AbortController();
    const wanted = new Map<string, number>();
    const writing = (async () => {
      for (let round = 0; !stop.signal.aborted; round++) {
        const name = `widget-${String((round * 7) % 60).padStart(4, "0")}`;
        const width = 10_000 + round;
        wanted.set(name, width);
        await client.patch(Widget, { namespace: "default", name }, { type: "merge", body: { spec: { width } } });
        await Bun.sleep(1);
      }
    })();
    expect(await run(w.transport, { pageSize: 7 })).toMatchObject({ failed: 0, storedVersions: ["v2"] });
    stop.abort();
    await writing;
    const objects = await client.list(Widget);
    for (const { metadata, spec } of objects) {
      expect(spec.width).toBe(wanted.get(metadata.name) ?? Number(metadata.name.slice(-4)));
    }
  });
});
