import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conditions, defineController, defineResource, of, TerminalError, watch, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { until } from "../../../tests/support/until.ts";
import { RunHistory } from "../../history/run-history.ts";
import { Manager } from "../../manager/manager.ts";
import { collectDefinitions } from "../../module/module-definitions.ts";
import { createLog } from "../../observe/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { startCluster, type TestCluster } from "../../testing/index.ts";
import { cli } from "../cli.ts";

/** A chain of three controllers: a Shop makes a Floor, a Floor makes a Room, a Room makes a ConfigMap. */
function kind<const K extends string>(kind: K) {
  return defineResource({
    group: "chain.example.com",
    version: "v1",
    kind,
    spec: z.object({ size: z.int() }),
    status: z.object({ conditions: conditions("Ready") }),
  });
}
const Shop = kind("Shop");
const Floor = kind("Floor");
const Room = kind("Room");
let isHealed = false;

const definitions = [
  Shop,
  Floor,
  Room,
  defineController({
    for: Shop,
    owns: [Floor],
    async reconcile({ metadata: { name }, spec: { size } }, { children, status }) {
      if (size < 0 && !isHealed) throw new TerminalError("a shop needs a size");
      await children.sync({ floor: of(Floor, { metadata: { name }, spec: { size: size * 2 } }) });
      status.condition({ type: "Ready", status: true, reason: "Made" });
    },
  }),
  defineController({
    for: Floor,
    owns: [Room],
    async reconcile({ metadata: { name }, spec: { size } }, { children }) {
      await children.sync({ room: of(Room, { metadata: { name }, spec: { size: size + 1 } }) });
    },
  }),
  defineController({
    for: Room,
    owns: [watch(ConfigMap, {})],
    async reconcile({ metadata: { name }, spec: { size } }, { children }) {
      await children.sync({ sign: of(ConfigMap, { metadata: { name }, data: { size: String(size) } }) });
    },
  }),
];

const stack = new AsyncDisposableStack();
let folder: string;
let cluster: TestCluster;
let manager: Manager;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "insight-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const before = process.env["XDG_RUNTIME_DIR"];
  process.env["XDG_RUNTIME_DIR"] = folder;
  stack.defer(() => {
    if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = before;
  });
  cluster = stack.use(await startCluster({ pods: false }));
  const log = createLog({ level: "info", format: "json", write: () => {} });
  manager = new Manager({
    cluster: cluster.config,
    log,
    rootLog: log,
    history: new RunHistory({ bytes: 2 ** 22, clock: systemClock, replica: "here" }),
    settings: { "grace-period": 1_000, "debug-bind-address": "127.0.0.1:0", "install-crds": true },
    isolate: false,
  });
  stack.defer(() => manager.stop());
  await manager.start();
  await manager.add({
    name: "shop.ts",
    file: "shop.ts",
    definitions: collectDefinitions(definitions),
    invoke: (fn) => fn(),
    dispose() {},
  });
  manager.loaded();
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
});
afterAll(() => stack.disposeAsync());

async function run(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const status = await cli(args, {
    embedded: { version: "1.2.3", offered: async () => ({}), sdk: async () => undefined, source: undefined },
    env: { XDG_RUNTIME_DIR: folder },
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  });
  return { status, out: out.join(""), err: err.join("") };
}

test("why tells the whole chain of controllers from one edit to the last object", async () => {
  const key = { namespace: "default", name: "one" };
  await cluster.client.create(Shop, { metadata: key, spec: { size: 2 } });
  await until(async () => (await cluster.client.find(ConfigMap, key))?.data?.["size"] === "5");
  await cluster.client.patch(Shop, key, { type: "merge", body: { spec: { size: 7 } } });
  await until(async () => (await cluster.client.find(ConfigMap, key))?.data?.["size"] === "15");
  await until(async () => (await run("why", "configmap", "default/one")).out.includes("size 5 → 15"));
  const { out, status } = await run("why", "configmap", "default/one", "--limit", "1");
  expect(status).toBe(0);
  const times = out.replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, "TIME").replaceAll(/[\d.]+ ms/g, "TIME ms");
  expect(times).toBe(`ConfigMap default/one exists
  No controller of this process reconciles this kind

TIME  room default/one ran TIME ms
  because Room default/one was changed by controller floor: spec.size 5 → 15
            in the run of floor default/one at TIME, because Floor default/one was changed by controller shop: spec.size 4 → 14
              in the run of shop default/one at TIME, because Shop default/one was changed by test: spec.size 2 → 7
  did     changed child ConfigMap default/one: data.size 5 → 15
  then    success
`);
  expect((await run("why", "configmap", "a/b/c")).err).toContain("'a/b/c' is no object: expected namespace/name");
  const shop = await run("why", "Shop.chain.example.com", "default/one", "--limit", "1");
  expect(shop.out).toContain(
    "Shop default/one exists, generation 2\n  Ready is True (Made)\n  shop: is idle, nothing is queued",
  );
  expect(shop.out).toContain("changed child Floor default/one: spec.size 4 → 14");
  const json = JSON.parse((await run("why", "shop", "default/one", "-o", "json")).out) as { runs: unknown[] }[];
  expect(json[0]!.runs.length).toBeGreaterThan(1);
});

test("keys tells why a key is parked, and retry runs it", async () => {
  await cluster.client.create(Shop, { metadata: { namespace: "default", name: "bad" }, spec: { size: -1 } });
  await until(async () => (await run("keys", "--parked")).out.includes("a shop needs a size"));
  const { out } = await run("keys", "--parked");
  expect(out).toMatch(
    /^CONTROLLER {2}KEY +STATE +TIME +REASON\nshop +default\/bad +parked +\d+m?s +TerminalError: a shop needs a size\n$/,
  );
  expect((await run("why", "shop", "default/bad")).out).toMatch(
    /shop: is parked for \d+m?s: TerminalError: a shop needs a size\n[^]*then +the key is parked, and not retried until/,
  );
  isHealed = true;
  expect(await run("retry", "default/bad")).toEqual({ status: 0, out: "shop default/bad runs again\n", err: "" });
  await until(async () => (await run("keys", "bad")).out === "No key is queued, running or parked.\n");
  expect((await run("why", "shop", "default/bad", "--limit", "1")).out).toContain("because somebody asked for it");
  expect((await run("retry", "--parked", "--failing")).out).toBe("No key is parked or failing.\n");
  expect((await run("retry", "default/one")).err).toContain(
    'several controllers have the key "default/one": name one of shop, floor, room',
  );
  expect((await run("retry", "default/none")).err).toContain('no controller has the key "default/none"');
});

test("pause and resume hold the runs of a module, and log-level changes its lines", async () => {
  expect((await run("pause", "shop.ts")).out).toBe("paused: shop.ts\n");
  expect((await run("top", "--once")).out).toMatch(/shop\.ts +shop +paused/);
  expect((await run("resume")).out).toBe("nothing is paused\n");
  expect((await run("log-level")).out).toBe("info\n");
  expect((await run("log-level", "shop.ts", "debug")).out).toBe("info, shop.ts: debug\n");
  expect((await run("log-level", "shop.ts", "default")).out).toBe("info\n");
  expect(await run("log-level", "loud")).toMatchObject({ status: 2 });
  expect((await run("pause", "none.ts")).err).toContain('there is no module "none.ts"; there are shop.ts');
});

test("top shows load and informers, once without a terminal, and as JSON", async () => {
  const { out } = await run("top");
  expect(out).toMatch(/^REPLICA +READY +RUNS\/S/);
  expect(out).toMatch(/Shop\.chain\.example\.com +watching +2 +\d+ B/);
  const [replica] = JSON.parse((await run("top", "-o", "json")).out) as { process: { isReady: boolean } }[];
  expect(replica!.process.isReady).toBe(true);
});

test("profile writes files for Chrome's tools", async () => {
  const here = process.cwd();
  process.chdir(folder);
  try {
    expect((await run("profile", "--seconds", "1", "--no-heap")).status).toBe(0);
    const file = readdirSync(folder).find((name) => name.endsWith(".cpuprofile"))!;
    expect(Object.keys(JSON.parse(readFileSync(join(folder, file), "utf8")) as object)).toContain("nodes");
  } finally {
    process.chdir(here);
  }
});

test("dashboard prints the address of the page with the token in its fragment", async () => {
  const { out } = await run("dashboard", "--no-open");
  expect(out).toBe(`http://${manager.address("debug")!}/#token=${manager.debugToken!}\n`);
});

test("a process that is not there, or not ours, is an error that says what to do", async () => {
  expect(await run("keys", "--address", "127.0.0.1:1")).toMatchObject({ status: 1 });
  const other = await run("retry", "a/b", "--address", "127.0.0.1:1");
  expect(other.err).toContain("Only the user who runs the process has the token");
  expect((await run("why", "shop", "default/none")).err).toContain(
    "no cache and no recorded run knows shop default/none; the watched kinds are",
  );
  expect((await run("keys", "--address", "a:1", "--deployment", "b")).status).toBe(2);
});
