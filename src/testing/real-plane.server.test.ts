/** The control plane that tests with `server: "real"` share, one after the other. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap, CustomResourceDefinition, Namespace } from "binnacle/resources";
import { assets } from "../../tests/support/control-plane.ts";
import { eventually, runModule, startCluster } from "./index.ts";

const programs = await assets();
const kindOf = (spec: z.ZodObject) =>
  defineResource({ group: "shared.example.com", version: "v1", kind: "Mast", spec });
const Mast = kindOf(z.object({ sails: z.int().default(1) }));
const mast = defineController({
  for: Mast,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { children }) {
    await children.sync({ sails: of(ConfigMap, { metadata: { name }, data: { sails: String(spec.sails) } }) });
  },
});
const at = (name: string) => ({ namespace: "default", name });

describe.skipIf(!programs)("a real control plane", () => {
  const before = process.env["KUBEBUILDER_ASSETS"];
  beforeAll(() => void (process.env["KUBEBUILDER_ASSETS"] = programs!));
  afterAll(() => {
    if (before === undefined) delete process.env["KUBEBUILDER_ASSETS"];
    else process.env["KUBEBUILDER_ASSETS"] = before;
  });
  const addresses: string[] = [];

  test("it is started by the first test", async () => {
    await using cluster = await startCluster({ server: "real", pods: false });
    addresses.push(cluster.config.server);
    await using _ = await runModule([mast, Mast], cluster);
    await cluster.client.create(Namespace, { metadata: { name: "left" } });
    await cluster.client.create(Mast, { metadata: at("main"), spec: {} });
    await eventually(async () =>
      expect((await cluster.client.get(ConfigMap, at("main"))).data).toEqual({ sails: "1" }),
    );
  }, 60_000);

  test("the next one has it empty, with the kinds, of which the garbage collector knows by then", async () => {
    await using cluster = await startCluster({ server: "real", pods: false });
    expect(cluster.config.server).toBe(addresses[0]!);
    expect(await cluster.client.find(Namespace, { name: "left" })).toBeUndefined();
    expect(await cluster.client.find(ConfigMap, at("main"))).toBeUndefined();
    expect(await cluster.client.find(CustomResourceDefinition, { name: "masts.shared.example.com" })).toBeDefined();
    await using _ = await runModule([mast, Mast], cluster);
    expect(await cluster.client.list(Mast)).toEqual([]);
  }, 60_000);

  test("a kind with another definition replaces that of an earlier test", async () => {
    await using cluster = await startCluster({ server: "real", pods: false });
    const Other = kindOf(z.object({ rigging: z.string() }));
    const rigged = defineController({ name: "rigged", for: Other, async reconcile() {} });
    await using _ = await runModule([rigged, Other], cluster);
    const made = await cluster.client.create(Other, { metadata: at("main"), spec: { rigging: "new" } });
    expect(made.spec).toEqual({ rigging: "new" });
  }, 60_000);
});
