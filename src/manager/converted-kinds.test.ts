/** Tests kinds with several versions, from the module to the API server that requests conversions. */
import { expect, test } from "bun:test";
import { z } from "zod";
import { CustomResourceDefinition } from "../resource/builtin/apiextensions.ts";
import { defineController } from "../module/define.ts";
import { defineResource } from "../resource/define.ts";
import { resource } from "../resource/handle.ts";
import { eventually } from "../testing/eventually.ts";
import { runModule } from "../testing/run-module.ts";
import { startCluster } from "../testing/start-cluster.ts";

const names = { group: "kinds.example.com", kind: "Widget", hub: "v1", storage: "v1" } as const;
const key = { namespace: "default", name: "one" };
const Old = resource("kinds.example.com/v1beta1", "Widget");

const status = z.object({ ended: z.boolean().optional() });

const widget = (label: string, more: z.ZodRawShape = { size: z.string() }) =>
  defineResource({
    ...names,
    versions: {
      v1: { spec: z.object({ width: z.int(), by: z.string().optional() }), status },
      v1beta1: {
        spec: z.object(more) as z.ZodObject<{ size: z.ZodString }>,
        status,
        toHub: ({ spec, status }) => ({ spec: { width: Number(spec.size), by: label }, status }),
        fromHub: ({ spec, status }) => ({ spec: { size: String(spec.width) }, status }),
      },
    },
  });

test("a module's kind is converted from the moment on at which its definition is applied", async () => {
  await using cluster = await startCluster({ pods: false });
  await using _ = await runModule(widget("first"), cluster);
  const { client } = cluster;
  await client.create(Old, { metadata: key, spec: { size: "3" } });
  const hub = await client.get(resource("kinds.example.com/v1", "Widget"), key);
  expect(hub["spec"]).toEqual({ width: 3, by: "first" });
  const { spec } = await client.get(CustomResourceDefinition, { name: "widgets.kinds.example.com" });
  expect(spec.conversion?.webhook?.clientConfig?.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/convert$/);
  expect(spec.conversion?.webhook?.clientConfig?.caBundle).toBeString();
});

test("handles of the other versions read and write objects as those have them", async () => {
  await using cluster = await startCluster({ pods: false });
  const kind = widget("first");
  await using _ = await runModule(kind, cluster);
  const { client } = cluster;
  const created = await client.create(kind.versions.v1beta1, { metadata: key, spec: { size: "3" } });
  expect(created).toMatchObject({ apiVersion: "kinds.example.com/v1beta1", spec: { size: "3" } });
  const width: number = (await client.get(kind, key)).spec.width;
  expect(width).toBe(3);
  const listed = await client.list(kind.versions.v1beta1);
  expect(listed.map(({ spec }) => spec.size)).toEqual(["3"]);
  expect(Object.keys(kind.versions)).toEqual(["v1beta1"]);
});

test("a process that starts after another one converts in its place", async () => {
  await using cluster = await startCluster({ pods: false });
  const { client } = cluster;
  const first = await runModule(widget("first"), cluster);
  await client.create(resource("kinds.example.com/v1", "Widget"), { metadata: key, spec: { width: 3 } });
  await first.stop();
  const read = () => client.get(Old, key);
  const change = client.patch(Old, key, { type: "merge", body: { spec: { size: "4" } } });
  await expect(change).rejects.toThrow("conversion webhook for kinds.example.com/v1, Kind=Widget failed");
  await using _ = await runModule(widget("second"), cluster);
  expect((await read())["spec"]).toEqual({ size: "3" });
});

test("runs that end still have their objects converted", async () => {
  await using cluster = await startCluster({ pods: false });
  const { client } = cluster;
  const kind = widget("first");
  let began = false;
  const controller = defineController({
    for: kind,
    async reconcile(_, { status, signal }) {
      began = true;
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
      status.set({ ended: true });
    },
  });
  const running = await runModule([kind, controller], cluster);
  await client.create(Old, { metadata: key, spec: { size: "3" } });
  await eventually(() => expect(began).toBe(true));
  await running.stop();
  expect(running.log.filter(({ level }) => level === "error")).toEqual([]);
  const { status } = await client.get(kind, key);
  expect(status).toMatchObject({ ended: true });
});

test("a change that would lose data is refused although the process that converted before is gone", async () => {
  await using cluster = await startCluster({ pods: false });
  const { client } = cluster;
  const first = await runModule(widget("first", { size: z.string(), note: z.string().optional() }), cluster);
  await client.create(Old, { metadata: key, spec: { size: "3" } });
  await first.stop();
  const second = runModule(widget("second"), cluster);
  await expect(second).rejects.toThrow("the field spec.note of v1beta1 would be removed while there are objects");
});

test("of two processes the one that applied the definition last converts", async () => {
  await using cluster = await startCluster({ pods: false });
  const { client } = cluster;
  await using _ = await runModule([widget("first")], cluster);
  await using __ = await runModule([widget("second")], cluster);
  await client.create(Old, { metadata: key, spec: { size: "3" } });
  await eventually(async () => {
    const hub = await client.get(resource("kinds.example.com/v1", "Widget"), key);
    expect(hub["spec"]).toMatchObject({ width: 3, by: "second" });
  });
});
