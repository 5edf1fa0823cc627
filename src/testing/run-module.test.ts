import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineController, defineResource, z, type Definition } from "binnacle";
import { CustomResourceDefinition } from "binnacle/resources";
import { crdOf } from "../resource/crd.ts";
import { eventually, runModule, startCluster, type TestCluster } from "./index.ts";

const sdk = join(import.meta.dirname, "../index.ts");
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-run-module-"));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** Writes a file with kinds and a controller; `exported` are the kinds that it exports. */
async function module(name: string, kinds: readonly string[], more = ""): Promise<Record<string, unknown>> {
  const definitions = kinds.map((kind) => {
    const [, word, isExported] = /^(\w+)(!?)$/.exec(kind)!;
    const options = `{ group: "${name.replaceAll(/[\W_]/g, "")}.example.com", version: "v1", kind: "${word}", spec: z.object({}) }`;
    return `${isExported === "!" ? "export " : ""}const ${word} = defineResource(${options});`;
  });
  const text = [
    `import { defineController, defineResource, watch, z } from ${JSON.stringify(sdk)};`,
    ...definitions,
    more,
  ];
  await writeFile(join(folder, name), text.join("\n"));
  return (await import(join(folder, name))) as Record<string, unknown>;
}

async function installed({ client }: TestCluster): Promise<readonly string[]> {
  return (await client.list(CustomResourceDefinition)).map(({ spec }) => spec.names.kind).toSorted();
}

const both = `
  export const controller = defineController({
    for: Own,
    watches: [watch(Foreign, { enqueue: () => [] })],
    async reconcile() {},
  });
  export const foreign = { handle: Foreign };
`;

test("applies the kinds that the module of a controller exports, as `run` and `dev` do, and no other", async () => {
  const { controller, foreign } = await module("a.ts", ["Own!", "Foreign"], both);
  await using cluster = await startCluster();
  await cluster.client.create(CustomResourceDefinition, {
    ...crdOf((foreign as { handle: Parameters<typeof crdOf>[0] }).handle),
    metadata: { name: "foreigns.ats.example.com", labels: { of: "others" } },
  });
  await using _ = await runModule(controller as Definition, cluster);
  expect(await installed(cluster)).toEqual(["Foreign", "Own"]);
  const { metadata } = await cluster.client.get(CustomResourceDefinition, { name: "foreigns.ats.example.com" });
  expect(metadata.labels).toEqual({ of: "others" });
  expect(metadata.managedFields?.map(({ manager }) => manager)).not.toContain("binnacle");
});

test("of all that a module exports applies the kinds, and not what its controllers name", async () => {
  const exports = await module("b.ts", ["Own!", "Foreign"], both);
  await using cluster = await startCluster();
  await expect(runModule(exports, cluster, { show: "none" })).rejects.toThrow(
    "Cannot run the module: controller 'own' waits for Foreign (bts.example.com/v1), which is not installed, " +
      "because no module exports it: export it, or install its CustomResourceDefinition before",
  );
  expect(await installed(cluster)).toEqual(["Own"]);
});

test("of all that a module exports applies the kinds of a neighbouring module, too", async () => {
  await module("given.ts", ["Given!"]);
  const exports = await module(
    "e.ts",
    ["Own!"],
    `
    import { Given } from "./given.ts";
    export const controllers = [
      defineController({ for: Given, async reconcile() {} }),
      defineController({ for: Own, async reconcile() {} }),
    ];
  `,
  );
  await using cluster = await startCluster();
  await using _ = await runModule(exports, cluster);
  expect(await installed(cluster)).toEqual(["Given", "Own"]);
});

test("finds kinds that a neighbouring module exports, but not those of a file that is no module", async () => {
  await module("shared.ts", ["Shared!"]);
  await module("_private.ts", ["Private!"]);
  const uses = (kind: string, file: string) => `
    import { ${kind} } from "./${file}";
    export const controller = defineController({ name: "of-${kind.toLowerCase()}", for: ${kind}, async reconcile() {} });
  `;
  const { controller } = await module("c.ts", [], uses("Shared", "shared.ts"));
  const { controller: lost } = await module("d.ts", [], uses("Private", "_private.ts"));
  await using cluster = await startCluster();
  await using _ = await runModule(controller as Definition, cluster);
  expect(await installed(cluster)).toEqual(["Shared"]);
  await expect(runModule(lost as Definition, cluster, { show: "none" })).rejects.toThrow("waits for Private");
});

test("applies what a test's own controller names: no module exports it", async () => {
  const Own = defineResource({ group: "test.example.com", version: "v1", kind: "Own", spec: z.object({}) });
  const seen: string[] = [];
  const controller = defineController({ for: Own, reconcile: async ({ metadata }) => void seen.push(metadata.name) });
  await using cluster = await startCluster();
  await using _ = await runModule(controller, cluster);
  await cluster.client.create(Own, { metadata: { namespace: "default", name: "one" }, spec: {} });
  await eventually(() => seen.includes("one"));
});
