/** Nothing that shows what a process does shows a secret, wherever the author's code has taken it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allow, conditions, defineController, defineResource, of, TerminalError, watch, z } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { until } from "../../../tests/support/until.ts";
import { RunHistory } from "../../history/run-history.ts";
import type { RunAnswer } from "../../history/run-answer.ts";
import { Manager } from "../../manager/manager.ts";
import { collectDefinitions } from "../../module/module-definitions.ts";
import { keepSecret } from "../../observe/known-secrets.ts";
import { createLog } from "../../observe/log.ts";
import { systemClock } from "../../platform/clock.ts";
import type { HistoryAnswer, KeysAnswer } from "../../server/debug/answers.ts";
import { startCluster, type TestCluster } from "../../testing/index.ts";
import { cli } from "../cli.ts";

const texts = (count: number): string[] => Array.from({ length: count }, () => `mk${crypto.randomUUID().slice(0, 13)}`);
/** What nobody may see, by where it stands. */
const planted = {
  data: texts(14),
  stringData: texts(6),
  /** In a JSON text in a Secret. */
  inner: texts(4),
  /** In a Secret that a controller makes. */
  made: texts(2),
  password: texts(9),
  /** In the items of a list. */
  token: texts(5),
  /** In the values of a map. */
  map: texts(4),
  status: texts(2),
  /** In the configuration of a module, as it is loaded. */
  configuration: texts(4),
};
const markers = Object.values(planted).flat();
/** What is no secret, so that somebody needs all of it. */
const HARMLESS = `The quota of the team "payments" is exhausted: 12 of 12 replicas, in eu-west-1 & eu-north-1 <both>. ${"Ask for more; ".repeat(30)}the end.`;

const sensitive = z.string().meta({ sensitive: true });
const Vault = defineResource({
  group: "vault.example.com",
  version: "v1",
  kind: "Vault",
  spec: z.object({
    leak: z.string(),
    password: sensitive.max(60),
    users: z.array(z.object({ name: z.string(), token: sensitive })).default([]),
    keys: z.record(z.string(), sensitive).default({}),
  }),
  status: z.object({
    session: sensitive.optional(),
    other: sensitive.optional(),
    note: z.string().optional(),
    conditions: conditions("Ready"),
  }),
});
const key = (name: string) => ({ namespace: "default", name });

/** Takes every secret that it can read to the place that `spec.leak` names. */
const leaking = defineController({
  name: "leaking",
  for: Vault,
  owns: [ConfigMap, Secret],
  reads: [Secret],
  uses: [allow(ConfigMap, "create"), allow(Vault, "create")],
  retry: { first: "1h" },
  async reconcile(vault, { client, children, status, events, log }) {
    const { metadata, spec } = vault;
    const { name } = metadata;
    const secret = await client.get(Secret, key("login"));
    const values = Object.values(secret.data ?? {}).map((text) => Buffer.from(text, "base64").toString());
    const known = [...values, spec.password, ...spec.users.map(({ token }) => token), ...Object.values(spec.keys)];
    const all = [...known, ...planted.inner, ...planted.made, ...planted.status, ...planted.configuration];
    if (spec.leak === "nothing") {
      status.condition({ type: "Ready", status: false, reason: "Quota", message: HARMLESS });
      throw new TerminalError(HARMLESS);
    }
    const copied = Object.fromEntries(planted.made.map((text, index) => [`made-${index}`, text]));
    status.set({ session: planted.status[0], other: planted.status[1] });
    await children.sync({ copy: of(Secret, { metadata: { name: `${name}-made` }, stringData: copied }) });
    const quoted = `${all.join(" ")} ${JSON.stringify(vault)} ${Buffer.from(all[0]!).toString("base64")} ${JSON.stringify(secret)}`;
    switch (spec.leak) {
      case "error":
        throw new Error(`cannot log in: ${quoted}`, { cause: new Error(quoted) });
      case "parked":
        throw new TerminalError(`cannot log in: ${quoted}`);
      case "log":
        for (const level of ["debug", "info", "warn", "error"] as const)
          for (const text of all)
            log[level](`uses ${text}`, { text, list: [text], error: new Error(text), secret, vault });
        return;
      case "events":
        for (const text of all.slice(0, 20)) events.warning("Leak", `uses ${text}`);
        return;
      case "status":
        status.set({ note: quoted.slice(0, 900) });
        status.condition({ type: "Ready", status: false, reason: "Leak", message: quoted.slice(0, 900) });
        return;
      case "copies": {
        const data = Object.fromEntries(
          all.map((text, index) => [`copy-${index}`, `https://user:${text}@example.com/`]),
        );
        await client.create(ConfigMap, {
          metadata: { ...key(name), annotations: { "example.com/all": all.join() } },
          data,
        });
        return;
      }
      case "refused":
        // The server quotes what it refuses.
        await client.create(Vault, { metadata: key("x"), spec: { ...spec, password: quoted.slice(0, 80) } });
        return;
      case "names":
        await client.create(ConfigMap, { metadata: key(`UPPER ${all[0]}`), data: {} });
        return;
    }
  },
});

/** Sees what others made of the secrets, and reads none itself. */
const watching = defineController({
  name: "watching",
  for: watch(ConfigMap, { namespaces: ["default"] }),
  async reconcile({ metadata: { name }, data = {} }, { log, causes }) {
    if (!name.startsWith("vault-")) return;
    log.info("Saw a copy", { data, paths: causes.map(({ paths }) => paths) });
  },
});

const LEAKS = ["error", "parked", "log", "events", "status", "copies", "refused", "names", "nothing"];
const stack = new AsyncDisposableStack();
let folder: string;
let cluster: TestCluster;
let manager: Manager;
let origin: string;
const logged: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "secrets-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const before = process.env["XDG_RUNTIME_DIR"];
  process.env["XDG_RUNTIME_DIR"] = folder;
  stack.defer(() => {
    if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = before;
  });
  stack.use(keepSecret(planted.configuration));
  cluster = stack.use(await startCluster({ pods: false }));
  const log = createLog({ level: "debug", format: "json", write: (line) => void logged.push(line) });
  manager = new Manager({
    cluster: cluster.config,
    log,
    rootLog: log,
    history: new RunHistory({ bytes: 2 ** 23, clock: systemClock, replica: "here" }),
    settings: { "grace-period": 1_000, "debug-bind-address": "127.0.0.1:0", "install-crds": true },
    isolate: false,
  });
  stack.defer(() => manager.stop());
  await manager.start();
  const definitions = collectDefinitions([Vault, leaking, watching]);
  await manager.add({ name: "vault.ts", file: "vault.ts", definitions, invoke: (fn) => fn(), dispose() {} });
  manager.loaded();
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  origin = `http://${manager.address("debug")!}`;
  await plant();
});
afterAll(() => stack.disposeAsync());

/** Makes the objects with the secrets, and waits until each of them has run. */
async function plant(): Promise<void> {
  const { data, stringData, inner, password, token, map } = planted;
  const named = (list: readonly string[], prefix: string) =>
    Object.fromEntries(list.map((text, index) => [`${prefix}-${index}`, text]));
  const encoded = data.map((text) => Buffer.from(text).toString("base64"));
  await cluster.client.create(Secret, {
    metadata: key("login"),
    data: named(encoded, "data"),
    stringData: { ...named(stringData, "string"), json: JSON.stringify({ users: inner }) },
  });
  for (const [index, leak] of LEAKS.entries()) {
    const users = token.map((text, at) => ({ name: `user-${at}`, token: text }));
    const spec = { leak, password: password[index]!, users, keys: named(map, "key") };
    await cluster.client.create(Vault, { metadata: key(`vault-${leak}`), spec });
  }
  const runs = async () => (await json<{ runs: RunAnswer[] }>("/debug/runs?limit=1000")).runs;
  const hasRun = (list: readonly RunAnswer[], name: string) =>
    list.some((run) => run.key === `default/${name}` && run.duration !== undefined);
  await until(async () => {
    const list = await runs();
    return (
      LEAKS.every((leak) => hasRun(list, `vault-${leak}`)) &&
      list.some((run) => run.controller === "watching" && run.key === "default/vault-copies")
    );
  }, {});
  // Changes of the sensitive fields are causes, too.
  const body = { spec: { password: password.at(-1), leak: "log" } };
  await cluster.client.patch(Vault, key("vault-events"), { type: "merge", body });
  await until(async () => (await runs()).filter((run) => run.key === "default/vault-events").length > 1, {});
}

async function text(path: string): Promise<string> {
  return (await fetch(`${origin}${path}`)).text();
}

async function json<T>(path: string): Promise<T> {
  return JSON.parse(await text(path)) as T;
}

/** Reads a stream of events until it has told something. */
async function streamed(path: string): Promise<string> {
  const stopping = new AbortController();
  const response = await fetch(`${origin}${path}`, {
    headers: { accept: "text/event-stream" },
    signal: stopping.signal,
  });
  let all = "";
  for await (const chunk of response.body!) {
    all += new TextDecoder().decode(chunk);
    if (all.length > 50_000 || (path.endsWith("stream") && all.includes("event: overview"))) break;
  }
  stopping.abort();
  return all;
}

async function act(path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${manager.debugToken}` };
  return (await fetch(`${origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).text();
}

async function command(...args: readonly string[]): Promise<string> {
  let output = "";
  const add = (part: string): void => void (output += part);
  const env = { XDG_RUNTIME_DIR: folder };
  const embedded = { version: "1.2.3", offered: async () => ({}), sdk: async () => undefined, source: undefined };
  await cli(args, { embedded, env, out: add, err: add });
  return output;
}

/** Names the markers that a text shows, as they are or in base64. */
function shown(text: string): readonly string[] {
  return Object.entries(planted).flatMap(([place, list]) =>
    list.flatMap((marker, index) => {
      // The first characters of a base64 text change with those before it.
      const encoded = Buffer.from(marker).toString("base64").replace(/=+$/, "").slice(0, -2);
      const at = Math.max(text.indexOf(marker), text.indexOf(encoded));
      return at < 0 ? [] : [`${place} ${index}: ${text.slice(Math.max(0, at - 120), at + 60)}`];
    }),
  );
}

const objects = [
  ...LEAKS.map((leak) => `kind=Vault&namespace=default&name=vault-${leak}`),
  "kind=ConfigMap&namespace=default&name=vault-copies",
  "kind=Secret&namespace=default&name=login",
  "kind=Secret&namespace=default&name=vault-log-made",
];

test("there are 50 markers, which the author's code has taken everywhere", async () => {
  expect(new Set(markers).size).toBe(50);
  const { runs } = await json<{ runs: RunAnswer[] }>("/debug/runs?limit=1000");
  const leaked = runs.filter(({ controller }) => controller === "leaking");
  expect(JSON.stringify(leaked)).toContain("[redacted]");
  const results = new Set(leaked.map(({ outcome }) => outcome?.result));
  expect(results).toContain("parked");
  expect(results).toContain("error");
  expect(JSON.stringify(leaked)).toContain("Too long");
});

test("no answer of the debug listener shows one", async () => {
  const { runs } = await json<{ runs: RunAnswer[] }>("/debug/runs?limit=1000");
  const lists = ["", "/process", "/modules", "/informers", "/keys", "/leases", "/webhooks", "/overview"];
  const paths = [
    ...lists.concat("/runs?limit=1000", "/runs?failed=true", "/log?limit=5000", "/log?level=debug&limit=5000"),
    ...runs.map(({ id }) => `/runs/${id}`),
    ...objects.flatMap((query) => [`/history?${query}`, `/owners?${query}`]),
  ];
  for (const path of paths) expect([path, ...shown(await text(`/debug${path}`))]).toEqual([path]);
  for (const path of ["/debug/log?level=debug", "/debug/stream"])
    expect([path, ...shown(await streamed(path))]).toEqual([path]);
  expect(shown(await act("/debug/profile", { seconds: 0.05 }))).toEqual([]);
  expect(shown(await act("/debug/heap", {}))).toEqual([]);
});

test("no page of the dashboard shows one", async () => {
  const pages = ["/", "/objects", "/keys", "/runs", "/runs?failed=true", "/modules", "/informers", "/log", "/process"];
  for (const path of [...pages, ...objects.map((query) => `/objects?${query}`)])
    expect([path, ...shown(await text(path))]).toEqual([path]);
});

test("no command shows one", async () => {
  const names = LEAKS.map((leak) => ["why", "Vault", `default/vault-${leak}`, "--limit", "100"]);
  const others = [["why", "ConfigMap", "default/vault-copies"], ["keys"], ["top", "--once"]];
  for (const args of [...names, ...others]) {
    for (const output of ["text", "json"]) {
      const out = await command(...args, "-o", output);
      expect(out.length).toBeGreaterThan(10);
      expect([args, ...shown(out)]).toEqual([args]);
    }
  }
});

test("no line of the log shows one, at any level", () => {
  expect(logged.some((line) => line.includes("Saw a copy"))).toBe(true);
  // A run that has read no Secret does not know what is one: who copies a Secret into a ConfigMap has published it.
  expect(logged.filter((line) => !line.includes('"controller":"watching"')).flatMap(shown)).toEqual([]);
});

test("a text without a secret is shown whole", async () => {
  const query = "kind=Vault&namespace=default&name=vault-nothing";
  const { present, keys } = await json<HistoryAnswer>(`/debug/history?${query}`);
  expect(present!.conditions[0]!.message).toBe(HARMLESS);
  expect(keys[0]!.reason).toBe(`TerminalError: ${HARMLESS}`);
  const escaped = Bun.escapeHTML(HARMLESS).replaceAll("&#x27;", "&#39;");
  expect((await text(`/objects?${query}`)).split(escaped).length).toBeGreaterThan(2);
  expect(await command("why", "Vault", "default/vault-nothing")).toContain(HARMLESS);
  const { keys: parked } = await json<KeysAnswer>("/debug/keys?state=parked&key=vault-nothing");
  expect(parked[0]!.reason).toContain(HARMLESS);
  expect(await command("keys", "--parked", "-o", "json")).toContain(JSON.stringify(HARMLESS).slice(1, -1));
});
