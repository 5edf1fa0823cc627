/**
 * Tests hundreds of objects that existed before: every child is right, without conflicts or superfluous writes, and without
 * writes after a restart. `SCALE_OBJECTS` changes how many there are.
 */
import { describe, expect, test } from "bun:test";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster, type Json } from "../support/cluster.ts";

const COUNT = Number(process.env["SCALE_OBJECTS"] ?? 600);

const MODULE = `
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const Widget = defineResource({ group: "demo.binnacle.dev", version: "v1", kind: "Widget",
  spec: z.object({ size: z.int() }), status: z.object({ ready: z.boolean().optional(), child: z.string().optional() }) });
export const widget = defineController({ for: Widget, owns: [ConfigMap], concurrency: 16,
  async reconcile(widget, { children, status }) {
    const name = "w-" + widget.metadata.name;
    await children.sync({ child: of(ConfigMap, { metadata: { name }, data: { size: String(widget.spec.size) } }) });
    status.set({ ready: true, child: name });
  } });`;

const WIDGETS = "/apis/demo.binnacle.dev/v1/namespaces/default/widgets";
const CONFIGMAPS = "/api/v1/namespaces/default/configmaps";

async function pool(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

describe.skipIf(!available)("scale", () => {
  test(`${COUNT} objects created before the start`, async () => {
    await using cluster = await Cluster.start({ controllers: false });
    await using bench = await Bench.create();
    await bench.write("controllers/widget.ts", MODULE);
    await cluster.plane.apply((await bench.exec("manifests", "crds")).stdout);
    await cluster.kubectl("wait", "--for=condition=Established", "crd/widgets.demo.binnacle.dev", "--timeout=20s");
    await until(async () => await cluster.serves(WIDGETS), { what: "the kind is served" });
    await pool(COUNT, (index) =>
      cluster.send("POST", WIDGETS, {
        body: {
          apiVersion: "demo.binnacle.dev/v1",
          kind: "Widget",
          metadata: { name: `w${index}` },
          spec: { size: index },
        },
      }),
    );
    const created = () => cluster.requests({ verb: "POST", resource: "configmaps", code: "201" });
    const writes = async () => ({
      statuses: await cluster.requests({ verb: "PUT", resource: "widgets", subresource: "status" }),
      patches: await cluster.requests({ verb: "PATCH", resource: "widgets" }),
      applies: await cluster.requests({ verb: "APPLY", resource: "widgets" }),
      childPatches: await cluster.requests({ verb: "PATCH", resource: "configmaps" }),
      childApplies: await cluster.requests({ verb: "APPLY", resource: "configmaps" }),
      conflicts: await cluster.requests({ code: "409" }),
    });
    const idle = await writes();
    const createdBefore = await created();

    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await operator.ready();
    const reconciled = () =>
      operator.metric("controller_runtime_reconcile_total", { controller: "widget", result: "success" });
    await until(async () => (await reconciled()) >= COUNT, { what: "all reconciled", within: 120_000, every: 50 });
    const seconds = (performance.now() - operator.started) / 1_000;
    const { cpu, peak } = await operator.usage();
    console.log(`${COUNT} objects: ${seconds.toFixed(2)} s, ${cpu.toFixed(2)} CPU s, peak ${Math.round(peak)} MiB`);
    await Bun.sleep(500); // late echoes would arrive now
    // Each status is written once, and nothing else is written or rejected.
    expect(await writes()).toEqual({ ...idle, statuses: idle.statuses + COUNT });
    // The control plane creates some ConfigMaps of its own.
    expect((await created()) - createdBefore).toBeGreaterThanOrEqual(COUNT);
    expect(await reconciled()).toBe(COUNT);

    const items = async (path: string): Promise<readonly Json[]> => (await cluster.get(path))!.items!;
    const children = new Map((await items(CONFIGMAPS)).map((child) => [child.metadata.name, child]));
    const widgets = await items(WIDGETS);
    expect(widgets).toHaveLength(COUNT);
    for (const { metadata, spec, status } of widgets) {
      const child = children.get(`w-${metadata.name}`);
      expect(child?.data).toEqual({ size: String(spec!["size"]) });
      expect(status).toMatchObject({ ready: true, child: `w-${metadata.name}`, observedGeneration: 1 });
    }
    expect(await operator.stop()).toBe(0);

    const versions = async (): Promise<string> =>
      [...(await items(WIDGETS)), ...(await items(CONFIGMAPS))].map(({ metadata }) => metadata.resourceVersion).join();
    const before = await versions();
    const settled = await writes();
    await using again = await bench.run({ kubeconfig: cluster.kubeconfig });
    await again.ready();
    await until(
      async () =>
        (await again.metric("controller_runtime_reconcile_total", { controller: "widget", result: "success" })) >=
        COUNT,
      {
        what: "all reconciled again",
        within: 60_000,
        every: 50,
      },
    );
    const restart = await again.usage();
    console.log(`after a restart: ${restart.cpu.toFixed(2)} CPU s, peak ${Math.round(restart.peak)} MiB`);
    expect(await writes()).toEqual(settled);
    expect(await versions()).toBe(before);
    expect(await again.stop()).toBe(0);
  }, 300_000);
});
