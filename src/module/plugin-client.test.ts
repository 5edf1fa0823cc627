import { expect, test } from "bun:test";
import { ConfigMap, Secret } from "../resource/builtin/index.ts";
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

test("what a plugin says repeats no Secret that it has read", async () => {
  const password = "hunter2-hunter2";
  const secret = { namespace: "default", name: "login" };
  const saying = (): Error => new TypeError(`no login with ${password} at port 5432`);
  const plugin = definePlugin({
    name: "teller",
    uses: [allow(Secret, "get")],
    async setup(registry) {
      const { client, log } = registry;
      await client.get(Secret, secret);
      log.warn(`about to try ${password}`);
      registry.readyCheck("login", () => {
        throw saying();
      });
      registry.run(async ({ log: inner }) => {
        inner.warn(`about to try ${password} again`);
        throw saying();
      });
    },
  });
  const failing = definePlugin({
    name: "failing",
    uses: [allow(Secret, "get")],
    async setup({ client }) {
      await client.get(Secret, secret);
      throw saying();
    },
  });
  await using cluster = await startCluster({ server: "embedded" });
  await cluster.client.create(Secret, { metadata: secret, stringData: { password } });
  const module = await runModule(plugin, cluster);
  await eventually(() => module.log.some(({ msg }) => msg.startsWith("A module failed")));
  const said = JSON.stringify(module.log);
  expect(said).toContain("no login with [redacted] at port 5432");
  expect(said).toContain("about to try [redacted] again");
  expect(said).not.toContain(password);
  const refused = await runModule(failing, cluster).catch((error: unknown) => String(error));
  expect(refused).toContain("no login with [redacted] at port 5432");
  expect(refused).not.toContain(password);
});

test("what a plugin uses is among the permissions of its module", () => {
  const setup = (): void => {};
  const plugin = definePlugin({ name: "maker", uses: [allow(ConfigMap, "create")], setup });
  const [permissions] = permissionsOf(collectDefinitions([plugin]));
  expect(permissions!.allows(ConfigMap, "create")).toBe(true);
  expect(permissions!.allows(ConfigMap, "delete")).toBe(false);
  expect(() => definePlugin({ name: "maker", uses: ["create"] as never, setup })).toThrow("option 'uses': entry 0");
});
