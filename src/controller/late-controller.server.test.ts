import { changed, defineController, defineKeyController, of, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, Lab, servers } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";
import { collectDefinitions } from "../module/module-definitions.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe.each(servers)("a controller that comes after the informer of its kind, on the %s server", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;
  const foreign = ["one", "three", "two"];

  beforeAll(async () => {
    lab = await Lab.start(
      behaviours,
      [boxController(behaviours, { owns: [watch(ConfigMap, { namespaces: ["default"] })] })],
      { server },
    );
    for (const name of foreign) {
      await lab.cluster.send("POST", MAPS, { body: { metadata: { name }, data: { name } } });
    }
    await lab.box("box", async (_, { children }) => {
      await children.sync({ child: of(ConfigMap, { metadata: { name: "child" }, data: { name: "child" } }) });
    });
    await until(async () => (await lab.cluster.get(`${MAPS}/child`)) !== undefined, { what: "a child" });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  /** Adds a module, and waits until its controllers have synced. */
  async function late(name: string, definition: unknown): Promise<AsyncDisposable> {
    const { manager } = lab.operator;
    const definitions = collectDefinitions([definition]);
    await manager.add({ name, file: `${name}.ts`, definitions, invoke: (call) => call(), dispose: () => {} });
    await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced), { what: "a synced controller" });
    await lab.operator.idle();
    return { [Symbol.asyncDispose]: () => manager.modules.remove(name) };
  }

  const all = ["child", ...foreign].sort();

  test.each([
    ["every change", undefined],
    ["changes of the generation", changed.generation],
    ["creations", ({ type }: { type: string }) => type === "create"],
  ] as const)("INF-05 runs for each object that was there, for `on`: %s", async (_, on) => {
    await lab.restart(); // what a controller needed that has just left would still be kept
    const errors = lab.operator.lines("error").length;
    const [ran, mapped, asked]: [string[], string[], string[]] = [[], [], []];
    const options = { namespaces: ["default"], ...(on !== undefined && { on }) };
    const primary = defineController({
      name: "late",
      for: watch(ConfigMap, { ...options, match: (map) => map.data!["name"] !== undefined }),
      reconcile: async ({ data }) => void ran.push(data!["name"]!),
    });
    const keyed = defineKeyController({
      name: "late-keys",
      watches: [
        watch(ConfigMap, {
          ...options,
          enqueue: (map) => {
            if (map.data!["name"] === undefined) return [];
            asked.push(map.data!["name"]);
            return [{ name: map.data!["name"] }];
          },
        }),
      ],
      reconcile: async ({ name }) => void mapped.push(name),
    });
    await using _late = await late("late", [primary, keyed]);
    expect([ran.sort(), mapped.sort(), asked.sort()]).toEqual([all, all, all]);
    expect(lab.operator.lines("error").slice(errors)).toEqual([]);
  });
});
