import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineController, TerminalError } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { until } from "../../../tests/support/until.ts";
import { RunHistory } from "../../history/run-history.ts";
import { collectDefinitions } from "../../module/module-definitions.ts";
import { createLog } from "../../observe/log.ts";
import { systemClock } from "../../platform/clock.ts";
import type {
  HistoryAnswer,
  InformersAnswer,
  KeysAnswer,
  LogLevelsAnswer,
  LogLineAnswer,
  ModulesAnswer,
  OverviewAnswer,
  OwnersAnswer,
  ProcessAnswer,
} from "../../server/debug/answers.ts";
import { startCluster } from "../../testing/index.ts";
import { Manager } from "../manager.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A process that copies the data of ConfigMaps named `copy-…` to a child, fails for `fails`, and parks `parked`. */
async function start() {
  const folder = mkdtempSync(join(tmpdir(), "debug-"));
  cleanup.defer(() => rmSync(folder, { recursive: true }));
  const before = process.env["XDG_RUNTIME_DIR"];
  process.env["XDG_RUNTIME_DIR"] = folder;
  cleanup.defer(() => {
    if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = before;
  });
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const log = createLog({ level: "info", format: "json", write: () => {} });
  const manager = new Manager({
    cluster: cluster.config,
    log,
    rootLog: log,
    history: new RunHistory({ bytes: 2 ** 20, clock: systemClock, replica: "here" }),
    settings: { "grace-period": 1_000, "debug-bind-address": "127.0.0.1:0" },
    isolate: false,
  });
  cleanup.defer(() => manager.stop());
  await manager.start();
  const healed = new Set<string>();
  const runs: string[] = [];
  const definitions = collectDefinitions([
    defineController({
      name: "copier",
      for: ConfigMap,
      owns: [ConfigMap],
      retry: { first: "1h" },
      async reconcile({ metadata: { name, namespace, annotations }, data }, { children, log: own }) {
        runs.push(name);
        if (name === "fails" && !healed.has(name)) throw new Error("the disk is full");
        if (name === "parked" && !healed.has(name)) throw new TerminalError("the name is wrong");
        if (!name.startsWith("copy-") || annotations?.["binnacle.dev/child"] !== undefined) return;
        own.info("Copying", { to: `${name}-child` });
        const child = {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: `${name}-child`, namespace },
          data,
        } as const;
        if (!name.endsWith("-child")) await children.sync({ child });
      },
    }),
  ]);
  await manager.add({ name: "copier.ts", file: "copier.ts", definitions, invoke: (fn) => fn(), dispose() {} });
  manager.loaded();
  await until(() => manager.modules.controllers[0]!.hasSynced);
  const address = manager.address("debug")!;
  const call = async (path: string, { method = "GET", body, headers }: Call = {}) => {
    const response = await fetch(`http://${address}${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    } as RequestInit);
    const text = await response.text();
    return { status: response.status, text, json: () => JSON.parse(text) as never, headers: response.headers };
  };
  const get = async <T>(path: string): Promise<T> => (await call(path)).json();
  const act = (path: string, body: unknown = {}) =>
    call(path, { method: "POST", body, headers: { authorization: `Bearer ${manager.debugToken!}` } });
  const create = (name: string) =>
    cluster.client.create(ConfigMap, { metadata: { name, namespace: "default" }, data: { a: "1" } });
  return { cluster, log, manager, address, folder, call, get, act, create, healed, runs };
}

describe("the debug listener", () => {
  test("shows modules, informers and keys with their reasons", async () => {
    const { get, create } = await start();
    for (const name of ["copy-a", "fails", "parked"]) await create(name);
    await until(async () => (await get<KeysAnswer>("/debug/keys?state=failing,parked")).total === 2);
    const { modules } = await get<ModulesAnswer>("/debug/modules");
    expect(modules).toMatchObject([
      {
        name: "copier.ts",
        state: "running",
        controllers: [{ name: "copier", kind: { kind: "ConfigMap" }, concurrency: 4 }],
      },
    ]);
    expect(modules[0]!.controllers[0]!.keys).toMatchObject({ parked: 1, failing: 1 });
    const { keys } = await get<KeysAnswer>("/debug/keys");
    expect(keys[0]).toMatchObject({
      controller: "copier",
      key: "default/parked",
      state: "parked",
      reason: "TerminalError: the name is wrong",
    });
    expect(keys[1]).toMatchObject({ key: "default/fails", state: "failing", failures: 1, causes: ["retry"] });
    expect(Date.parse(keys[1]!.until!)).toBeGreaterThan(Date.now() + 500_000);
    expect((await get<KeysAnswer>("/debug/keys?key=park")).total).toBe(1);
    expect((await get<KeysAnswer>("/debug/keys?controller=other")).total).toBe(0);
    const { informers } = await get<InformersAnswer>("/debug/informers");
    expect(informers).toMatchObject([
      {
        kind: { kind: "ConfigMap" },
        state: "watching",
        hasSynced: true,
        users: ["copier.ts/copier", "copier.ts/copier"],
      },
    ]);
    expect(informers[0]!.objects).toBeGreaterThanOrEqual(4);
    expect(informers[0]!.bytes).toBeGreaterThan(100);
    const own = await get<ProcessAnswer>("/debug/process");
    expect(own).toMatchObject({
      mode: "run",
      pid: process.pid,
      isReady: true,
      isPaused: false,
      server: { isReachable: true },
    });
  });

  test("runs a parked key again by request, pauses and resumes modules", async () => {
    const { get, act, create, healed, runs } = await start();
    await create("parked");
    await until(async () => (await get<KeysAnswer>("/debug/keys?state=parked")).total === 1);
    healed.add("parked");
    expect((await act("/debug/pause", { module: "copier.ts" })).json()).toEqual({
      isPaused: false,
      modules: ["copier.ts"],
    } as never);
    expect((await act("/debug/retry", { controller: "copier", key: "default/parked" })).status).toBe(200);
    expect((await get<KeysAnswer>("/debug/keys")).keys).toMatchObject([{ state: "waiting", causes: ["by request"] }]);
    expect((await get<ModulesAnswer>("/debug/modules")).modules[0]!.state).toBe("paused");
    expect((await act("/debug/resume", { module: "copier.ts" })).status).toBe(200);
    await until(async () => (await get<KeysAnswer>("/debug/keys")).total === 0);
    expect(runs.filter((name) => name === "parked")).toHaveLength(2);
    const missing = await act("/debug/retry", { controller: "copier", key: "default/nobody" });
    expect([missing.status, missing.json() as unknown]).toEqual([
      404,
      { error: 'controller copier has no key "default/nobody" on this replica' },
    ]);
    expect((await act("/debug/retry", { controller: "copy", key: "a" })).text).toContain("there are copier");
    expect((await act("/debug/pause", { module: "x" })).status).toBe(404);
  });

  test("shows an object among its owners", async () => {
    const { get, create, call } = await start();
    await create("copy-a");
    await until(async () => (await call("/debug/owners?kind=cm&name=copy-a-child&namespace=default")).status !== 500);
    await until(
      async () => (await call("/debug/owners?kind=configmaps&name=copy-a-child&namespace=default")).status === 200,
    );
    const { root } = await get<OwnersAnswer>("/debug/owners?kind=ConfigMap&name=copy-a-child&namespace=default");
    expect(root).toMatchObject({
      name: "copy-a",
      isSubject: false,
      controllers: ["copier"],
      owned: [{ name: "copy-a-child", isSubject: true, owned: [] }],
    });
    expect(await get<unknown>("/debug/owners?kind=ConfigMap&name=none")).toEqual({
      error: "no cache holds ConfigMap none; the watched kinds are ConfigMap",
    });
  });

  test("tells the runs of an object, and which run wrote it", async () => {
    const { get, create, cluster } = await start();
    await create("copy-a");
    const history = (name: string) =>
      get<HistoryAnswer>(`/debug/history?kind=ConfigMap&namespace=default&name=${name}`);
    await until(async () => (await history("copy-a")).runs.length > 0);
    await cluster.client.patch(
      ConfigMap,
      { namespace: "default", name: "copy-a" },
      { type: "merge", body: { data: { a: "2" } } },
    );
    await until(async () => (await history("copy-a-child")).writers.length === 2);
    const child = await history("copy-a-child");
    expect(child).toMatchObject({
      object: { kind: "ConfigMap", name: "copy-a-child" },
      controllers: ["copier"],
      present: { isWhole: true },
    });
    expect(child.writers[0]!.causes[0]).toMatchObject({
      source: "for",
      type: "update",
      object: { name: "copy-a" },
      by: { manager: "test" },
      changes: [{ path: "data.a", old: "1", new: "2" }],
    });
    const { runs } = await get<{ runs: { id: string }[] }>("/debug/runs?limit=1&key=default/copy-a");
    expect(await get<{ id: string }>(`/debug/runs/${runs[0]!.id}`)).toMatchObject({
      id: runs[0]!.id,
      outcome: { result: "success" },
    });
    expect(await get<unknown>("/debug/runs/none")).toEqual({ error: "no such run is recorded any more" });
  });

  test("sets levels of the log, for a while if asked, and shows and streams its lines", async () => {
    const { get, act, create, address } = await start();
    expect((await act("/debug/log-level", { level: "debug", module: "copier.ts" })).json() as unknown).toEqual({
      level: "info",
      modules: { "copier.ts": "debug" },
    });
    await create("copy-a");
    const lines = async () => (await get<{ lines: LogLineAnswer[] }>("/debug/log?controller=copier&level=debug")).lines;
    await until(async () => (await lines()).some(({ message }) => message === "Reconciled"));
    expect(
      (await lines()).some(({ message, fields }) => message === "Copying" && fields["to"] === "copy-a-child"),
    ).toBe(true);
    expect((await act("/debug/log-level", { level: null, module: "copier.ts" })).json() as LogLevelsAnswer).toEqual({
      level: "info",
      modules: {},
    });
    await act("/debug/log-level", { level: "warn", for: "20ms" });
    await until(async () => (await get<ProcessAnswer>("/debug/process")).log.level === "info");
    for (const level of ["warn", "error"]) await act("/debug/log-level", { level, for: "20ms" });
    await until(async () => (await get<ProcessAnswer>("/debug/process")).log.level === "info");
    const stopping = new AbortController();
    const response = await fetch(`http://${address}/debug/log?text=Copying`, {
      headers: { accept: "text/event-stream" },
      signal: stopping.signal,
    });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const chunks: string[] = [];
    const reading = (async () => {
      for await (const chunk of response.body!) chunks.push(new TextDecoder().decode(chunk));
    })().catch(() => {});
    await until(() => chunks.join("").includes("copy-a-child"));
    await create("copy-b");
    await until(() => chunks.join("").includes('"to":"copy-b-child"'));
    stopping.abort();
    await reading;
  });

  test("a stream of the log begins with all lines that were asked for", async () => {
    const { address, log } = await start();
    for (let line = 0; line < 3_000; line++) log.info("A line", { line });
    const response = await fetch(`http://${address}/debug/log?text=A+line&limit=3000`, {
      headers: { accept: "text/event-stream" },
    });
    let text = "";
    for await (const chunk of response.body!) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('"line":2999')) break;
    }
    expect(text.split("event: line").length - 1).toBe(3_000);
  });

  test("measures each second", async () => {
    const { address } = await start();
    const stopping = new AbortController();
    const response = await fetch(`http://${address}/debug/stream`, { signal: stopping.signal });
    let text = "";
    for await (const chunk of response.body!) {
      text += new TextDecoder().decode(chunk);
      if (text.includes("event: overview")) break;
    }
    stopping.abort();
    const [, data] = /event: overview\ndata: (.*)\n/.exec(text)!;
    const overview = JSON.parse(data!) as OverviewAnswer;
    expect(overview.keys).toEqual({ parked: 0, stuck: 0, failing: 0, running: 0, waiting: 0, delayed: 0 });
    expect(overview.memory).toBeGreaterThan(2 ** 20);
  });

  test("makes profiles that contain no texts", async () => {
    const { act } = await start();
    const marker = `marker-${crypto.randomUUID()}`;
    (globalThis as { held?: unknown }).held = { marker, list: [`${marker}-2`] };
    const profile = (await act("/debug/profile", { seconds: 0.05 })).json() as { nodes: unknown[] };
    expect(profile.nodes.length).toBeGreaterThan(0);
    const heap = await act("/debug/heap");
    expect(heap.headers.get("content-disposition")).toContain(".heapsnapshot");
    expect((heap.json() as { nodes: number[] }).nodes.length).toBeGreaterThan(10_000);
    expect(heap.text).not.toContain(marker);
    expect(heap.text).toContain(`[${marker.length} characters]`);
    delete (globalThis as { held?: unknown }).held;
    expect((await act("/debug/profile", { seconds: 1e6 })).status).toBe(400);
    const both = await Promise.all([1, 2].map(() => act("/debug/profile", { seconds: 0.05 })));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  test.each<[string, Call & { readonly path?: string }, number]>([
    ["a redirected name", { headers: { host: "evil.example:8082" } }, 403],
    ["a name that only begins like the loopback", { headers: { host: "localhost.evil.example" } }, 403],
    ["an address of this machine", { headers: { host: "192.168.0.7" } }, 403],
    ["a proxy", { headers: { "x-forwarded-for": "10.0.0.1" } }, 403],
    ["a page of another site", { headers: { origin: "https://evil.example" } }, 403],
    ["a page without an origin", { headers: { origin: "null" } }, 403],
    [
      "an image of another site's page",
      { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } },
      403,
    ],
    [
      "a frame in another site's page",
      { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" } },
      403,
    ],
    [
      "a link of another site",
      { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" } },
      200,
    ],
    ["a forwarded port", { headers: { host: "localhost:51234" } }, 200],
    ["IPv6", { headers: { host: "[::1]:8082" } }, 200],
    ["another method", { method: "DELETE" }, 405],
    ["a path that does not exist", { path: "/debug/nothing" }, 404],
    ["reading an action", { path: "/debug/retry" }, 404],
    ["a path that takes no action", { path: "/debug/process", method: "POST" }, 404],
  ])("answers %s as it should", async (_name, { path = "/debug/process", ...options }, status) => {
    const { call } = await start();
    const response = await call(path, options);
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each(["retry", "pause", "resume", "log-level", "profile", "heap"])("%s needs the token", async (action) => {
    const { call } = await start();
    for (const authorization of [undefined, "Bearer x", "Basic eDp5"]) {
      const headers = authorization === undefined ? {} : { authorization };
      expect((await call(`/debug/${action}`, { method: "POST", body: {}, headers })).status).toBe(401);
    }
  });

  test("gives its token to nobody who does not act for the account of the process", async () => {
    const { manager, call } = await start();
    expect((await call("/debug/token", { method: "POST" })).status).toBe(401);
    for (const token of ["nonsense", manager.debugToken!]) {
      const response = await call("/debug/token", { method: "POST", headers: { authorization: `Bearer ${token}` } });
      expect(response.status).toBe(403);
      expect(response.text).not.toContain(manager.debugToken!);
    }
  });

  test("gives its token for a ticket, once", async () => {
    const { manager, call, act } = await start();
    expect((await call("/debug/ticket", { method: "POST", body: {} })).status).toBe(401);
    const { ticket } = (await act("/debug/ticket")).json() as { readonly ticket: string };
    const exchange = () => call("/debug/token", { method: "POST", headers: { authorization: `Ticket ${ticket}` } });
    expect((await exchange()).json() as unknown).toEqual({ token: manager.debugToken });
    const again = await exchange();
    expect([again.status, again.text.includes(manager.debugToken!)]).toEqual([403, false]);
  });

  test("leaves a private file for this user's commands, and takes it away", async () => {
    const { manager, address, folder } = await start();
    const file = join(folder, "binnacle", `${address.split(":")[1]}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      address,
      pid: process.pid,
      token: manager.debugToken,
      folder: process.cwd(),
    });
    await manager.stop();
    expect(existsSync(file)).toBe(false);
  });

  test.each([":8082", "0.0.0.0:8082", "192.168.0.1:8082", "example.org:8082", "[::]:8082"])(
    "refuses the address %s, which others reach",
    async (address) => {
      const cluster = cleanup.use(await startCluster({ pods: false }));
      const log = createLog({ level: "info", format: "json", write: () => {} });
      const manager = new Manager({
        cluster: cluster.config,
        log,
        rootLog: log,
        history: new RunHistory({ bytes: 2 ** 20, clock: systemClock, replica: "here" }),
        settings: { "debug-bind-address": address },
        isolate: false,
      });
      cleanup.defer(() => manager.stop());
      const failure = await manager.start().catch((error: unknown) => String(error));
      expect(failure).toContain("--debug-bind-address is '" + address + "', which other machines reach");
    },
  );
});
