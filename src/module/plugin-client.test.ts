import { expect, test } from "bun:test";
import { ConfigMap } from "../resource/builtin/index.ts";
import { eventually, runModule, startCluster } from "../testing/index.ts";
import { allow } from "../controller/definition.ts";
import type { Client } from "../client/client.ts";
import { collectDefinitions, permissionsOf } from "./module-definitions.ts";
import { definePlugin } from "./define.ts";

const key = { namespace: "default", name: "made" };

test("a plugin reads and writes with a client of its own, as long as its module runs", async () => {
  let kept: Client | undefined;
  let seen = "";
  const plugin = definePlugin({
    name: "maker",
    uses: [allow(ConfigMap, "create", "get")],
    setup(facade) {
      const { client } = facade;
      expect(facade.client).toBe(client);
      kept = client;
      facade.run(async () => {
        await client.create(ConfigMap, { metadata: key, data: { by: "maker" } });
        seen = (await client.get(ConfigMap, key)).data?.["by"] ?? "";
      });
    },
  });
  await using cluster = await startCluster();
  const module = await runModule(plugin, cluster);
  await eventually(() => seen === "maker");
  const { metadata } = await cluster.client.get(ConfigMap, key);
  expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(["maker"]);
  expect(module.log.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  await module.stop();
  await expect(kept!.create(ConfigMap, { metadata: { ...key, name: "late" } })).rejects.toThrow("has left");
});

test("what a plugin uses is among the permissions of its module", () => {
  const setup = (): void => {};
  const plugin = definePlugin({ name: "maker", uses: [allow(ConfigMap, "create")], setup });
  const [permissions] = permissionsOf(collectDefinitions([plugin]));
  expect(permissions!.allows(ConfigMap, "create")).toBe(true);
  expect(permissions!.allows(ConfigMap, "delete")).toBe(false);
  expect(() => definePlugin({ name: "maker", uses: ["create"] as never, setup })).toThrow("option 'uses': entry 0");
});
