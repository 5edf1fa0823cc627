/** Tests the end of a process whose modules keep all sorts of things open, with the module graphs of real files. */
import { afterEach, expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { ReloadLab, telling, type ToldRun } from "../../tests/support/reload-lab.ts";
import { until } from "../../tests/support/until.ts";
import type { ManagerOptions } from "./manager-options.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

type Line = { readonly level: string; readonly msg: string; readonly [field: string]: unknown };

async function start(files: Readonly<Record<string, string>>, settings: ManagerOptions["settings"] = {}) {
  const lines: Line[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) });
  const runs: ToldRun[] = [];
  const teller = { begin: (run: ToldRun) => void runs.push(run), end: () => {} };
  const lab = cleanup.use(
    await ReloadLab.start(files, teller, {
      log,
      settings: { "health-probe-bind-address": "127.0.0.1:0", ...settings },
    }),
  );
  const config = (name: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", labels: { lab: "yes" } },
  });
  const create = async (name: string) => {
    const { answer, server } = lab.cluster.config;
    const request = new Request(`${server}/api/v1/namespaces/default/configmaps`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(config(name)),
    });
    expect((await answer!(request)).status).toBe(201);
  };
  const get = (path: string) => fetch(`http://${lab.manager.address("health-probe")}${path}`);
  return { lab, lines, runs, create, get };
}

const READING = `import { definePlugin, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export default definePlugin({ name: "reader", reads: [watch(ConfigMap, { labels: "lab=yes" })], setup() {} });
`;

test("a process ends at once although the caches of a plugin watch a kind in which nothing happens", async () => {
  const { lab } = await start({ "reader.ts": READING });
  const began = performance.now();
  await lab.manager.stop();
  expect(performance.now() - began).toBeLessThan(1_500);
});

test("an informer that a plugin was the first to use serves the others after the plugin's module has left", async () => {
  const { lab, runs, create } = await start({
    "a-reader.ts": READING,
    "b-teller.ts": telling({ controller: "teller", version: 1, onReload: "resume" }),
  });
  await create("before");
  await until(() => runs.some(({ key }) => key === "before"));
  await lab.remove("a-reader.ts");
  await until(() => !lab.manager.modules.has("a-reader.ts"));
  await create("after");
  await until(() => runs.some(({ key }) => key === "after"), { what: "the event of an object" });
});

const DEAF = `import { defineController, definePlugin, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { Hono } from "hono";
const never = () => new Promise(() => {});
setInterval(() => {}, 50);
setTimeout(() => {}, 2 ** 30);
const server = Bun.serve({ port: 0, fetch: never });
void fetch(server.url).catch(() => {});
export const plugin = definePlugin({
  name: "deaf",
  reads: [ConfigMap],
  setup(registry) {
    registry.run(never, { leaderOnly: false });
    registry.onLeave(never);
    const endless = () => new Response(new ReadableStream({ start: (to) => to.enqueue("begun") }));
    registry.route(new Hono().get("/endless", endless).get("/never", never));
    registry.readyCheck("never", never);
  },
});
export const controller = defineController({
  name: "deaf",
  for: watch(ConfigMap, { labels: "lab=yes" }),
  async reconcile(config, { client }) {
    globalThis.binnacleReloadLab.begin({ controller: "deaf", version: 1, key: config.metadata.name, value: "" });
    await never();
  },
});
`;

test("a process ends within its grace period whatever is open, and says after 2 s what it waits for", async () => {
  const { lab, lines, runs, create, get } = await start(
    { "deaf.ts": DEAF, "reader.ts": READING },
    { "grace-period": 2_300 },
  );
  await create("stuck");
  await until(() => runs.length > 0);
  const { body } = await get("/plugins/deaf/endless");
  const unanswered = ["/plugins/deaf/never", "/readyz"].map((path) => get(path).catch(() => {}));
  const began = performance.now();
  await lab.manager.stop();
  const took = performance.now() - began;
  await Promise.all(unanswered);
  await body?.cancel().catch(() => {});
  expect(lines.filter(({ msg }) => msg === "Still stopping")).toMatchObject([
    { waitsFor: "runs", open: ["deaf.ts: the run of deaf default/stuck"] },
  ]);
  expect(took).toBeGreaterThan(2_000);
  expect(took).toBeLessThan(5_000);
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});
