/** What is recorded of the runs of a process. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { allow, conditions, defineController, defineResource, type Definition, of, watch, z } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { until } from "../../tests/support/until.ts";
import type { RunAnswer } from "../history/run-answer.ts";
import { RunHistory } from "../history/run-history.ts";
import { systemClock } from "../platform/clock.ts";
import { startCluster, type TestCluster } from "../testing/index.ts";

const Site = defineResource({
  group: "shop.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ title: z.string(), login: z.string().meta({ sensitive: true }).optional() }),
  status: z.object({ title: z.string().optional(), conditions: conditions("Ready") }),
});

const site = defineController({
  name: "site",
  for: Site,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { title } }, { children, status, events, log }) {
    await children.sync({ page: of(ConfigMap, { metadata: { name }, data: { title } }) });
    log.info("Wrote the page", { title });
    events.normal("Written", `The page of ${name} is written`);
    status.set({ title });
    status.condition({ type: "Ready", status: title !== "", reason: "Written" });
  },
});

let cleanup = new AsyncDisposableStack();
let cluster: TestCluster;
beforeEach(async () => {
  cluster = cleanup.use(await startCluster({ pods: false }));
});
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** Runs definitions and records their runs. */
async function record(...definitions: readonly (Definition | typeof Site)[]) {
  const history = new RunHistory({ bytes: 8 * 2 ** 20, clock: systemClock, replica: "here" });
  const operator = cleanup.use(await InProcess.start({ cluster: cluster.config, definitions, history }));
  const runs = (controller: string, name: string): readonly RunAnswer[] =>
    [...history.runs({ controller, key: `default/${name}` })].map(
      (run) => JSON.parse(JSON.stringify(run)) as RunAnswer,
    );
  return { history, operator, runs };
}

const key = { namespace: "default", name: "one" };

/** Waits until a controller's runs of an object have ended, at least so many. @returns them, the newest first. */
async function ended(runs: () => readonly RunAnswer[], least: number): Promise<readonly RunAnswer[]> {
  await until(() => runs().length >= least && runs().every(({ duration }) => duration !== undefined));
  return runs();
}

test("a run tells its causes, requests, children, status, events, log and outcome", async () => {
  const { runs, operator } = await record(Site, site);
  await cluster.client.create(Site, { metadata: key, spec: { title: "Hello" } });
  await ended(() => runs("site", "one"), 1);
  await operator.idle();
  await cluster.client.patch(Site, key, { type: "merge", body: { spec: { title: "" } } });
  const [second, first] = await ended(() => runs("site", "one"), 2);
  const object = { group: "shop.example.com", version: "v1", kind: "Site", ...key, uid: expect.any(String) };
  const page = { group: "", version: "v1", kind: "ConfigMap", ...key, uid: expect.any(String) };
  expect(first).toMatchObject({
    module: "test",
    object,
    phase: "reconcile",
    attempt: 1,
    causes: [{ source: "for", type: "create", object, by: { manager: "test", operation: "Update" } }],
    requests: [
      { verb: "create", object: page, status: 201, by: "runtime" },
      { verb: "patch", subresource: "status", object, status: 200, by: "runtime" },
    ],
    children: [{ name: "page", object: page, action: "created" }],
    log: [{ level: "info", message: "Wrote the page", fields: { title: "Hello" } }],
    events: [{ type: "Normal", reason: "Written", message: "The page of one is written", about: object }],
    outcome: { result: "success" },
  });
  const title = { old: "Hello", new: "" };
  expect(second).toMatchObject({
    causes: [{ type: "update", changes: [{ path: "spec.title", ...title }], by: { manager: "test" } }],
    requests: [{ verb: "patch", object: page, changes: [{ path: "data.title", ...title }] }, { subresource: "status" }],
    children: [{ action: "changed", changes: [{ path: "data.title", ...title }] }],
    status: { conditions: [{ type: "Ready", status: "False", was: "True", reason: "Written" }] },
  });
  expect(second!.status!.changes).toContainEqual({ path: "status.title", ...title });
  expect(second!.status!.changes).toContainEqual({
    path: "status.conditions[type=Ready].status",
    old: "True",
    new: "False",
  });
});

test("the cause of a run names the run whose write it is, along a chain of controllers", async () => {
  const copy = defineController({
    name: "copy",
    for: ConfigMap,
    async reconcile({ metadata: { name, namespace }, data = {} }, { client }) {
      if (name !== "one") return;
      const metadata = { name: "copy", namespace };
      await client.createOrUpdate(ConfigMap, metadata, (draft) => {
        draft.data = { ...data };
      });
    },
  });
  const { runs, operator } = await record(Site, site, copy);
  await cluster.client.create(Site, { metadata: key, spec: { title: "Hello" } });
  await ended(() => runs("copy", "copy"), 1);
  await operator.idle();
  await cluster.client.patch(Site, key, { type: "merge", body: { spec: { title: "Bye" } } });
  const [last] = await ended(() => runs("copy", "copy"), 2);
  const changes = [{ path: "data.title", old: "Hello", new: "Bye" }];
  expect(last!.causes).toMatchObject([
    { changes, by: { manager: "copy" }, run: { controller: "copy", key: "default/one" } },
  ]);
  const [second] = runs("copy", "one");
  expect(last!.causes[0]!.run!.id).toBe(second!.id);
  expect(second).toMatchObject({
    causes: [{ changes, by: { manager: "site" }, run: { controller: "site", key: "default/one" } }],
    reads: [{ verb: "get", kind: { kind: "ConfigMap" }, key: "default/copy", from: "cache", count: 1 }],
    requests: [{ verb: "update", by: "author", status: 200, object: { name: "copy" }, changes }],
  });
  const [first] = runs("site", "one");
  expect(second!.causes[0]!.run!.id).toBe(first!.id);
  expect(first!.causes).toMatchObject([{ by: { manager: "test" }, changes: [{ path: "spec.title" }] }]);
});

test("a run under way is shown, and one that fails says how and when the key runs again", async () => {
  const gate = Promise.withResolvers<void>();
  const failing = defineController({
    name: "failing",
    for: Site,
    retry: { first: "1h" },
    async reconcile({ metadata }, { client, key: { namespace } }) {
      await client.find(ConfigMap, { name: "absent", namespace });
      await gate.promise;
      await client.delete(Secret, { name: "a", namespace });
      throw new Error(`No luck with ${metadata.name}`);
    },
  });
  const { runs, history } = await record(Site, failing);
  const heard: RunAnswer[] = [];
  using _listener = history.onEnd((run) => heard.push(run));
  await cluster.client.create(Site, { metadata: key, spec: { title: "" } });
  await until(() => runs("failing", "one").length > 0);
  await until(() => runs("failing", "one")[0]!.requests.length > 0);
  const [active] = runs("failing", "one");
  expect(active!.duration).toBeUndefined();
  expect(active!.outcome).toBeUndefined();
  gate.resolve();
  const [run] = await ended(() => runs("failing", "one"), 1);
  expect(run!.requests).toMatchObject([
    { verb: "get", status: 404, reason: "NotFound", by: "author", object: { kind: "ConfigMap", name: "absent" } },
    { verb: "delete", status: 404, by: "author", object: { kind: "Secret" } },
  ]);
  expect(run!.outcome).toMatchObject({
    result: "error",
    error: "No luck with one",
    stack: expect.stringContaining("at "),
  });
  expect(Date.parse(run!.outcome!.next!)).toBeGreaterThan(Date.now() + 900_000);
  expect(heard).toEqual([history.run(run!.id)!]);
});

test("the line of a failed run names what has changed", async () => {
  const failing = defineController({
    name: "failing",
    for: Site,
    async reconcile({ spec }) {
      if (spec.title === "bad") throw new Error("No");
    },
  });
  const { operator, runs } = await record(Site, failing);
  await cluster.client.create(Site, { metadata: key, spec: { title: "good" } });
  await ended(() => runs("failing", "one"), 1);
  await cluster.client.patch(Site, key, { type: "merge", body: { spec: { title: "bad" } } });
  await until(() => operator.lines("error").length > 0);
  expect(operator.lines("error")[0]).toMatchObject({ because: "for Site update default/one (spec.title)" });
});

test("the author's code reads what has changed, also when nothing is recorded", async () => {
  const seen: (readonly string[] | undefined)[] = [];
  const looking = defineController({
    name: "looking",
    for: Site,
    owns: [ConfigMap],
    watches: [watch(Secret, { keep: ["data.a"], enqueue: () => [key] })],
    async reconcile({ metadata: { name } }, { causes, children }) {
      seen.push(...causes.map(({ paths }) => paths));
      await children.sync({ page: of(ConfigMap, { metadata: { name }, data: { a: "1" } }) });
    },
  });
  const operator = cleanup.use(await InProcess.start({ cluster: cluster.config, definitions: [Site, looking] }));
  await cluster.client.create(Site, { metadata: key, spec: { title: "a" } });
  await until(() => seen.length > 0);
  await operator.idle();
  const body = { metadata: { labels: { "a/b": "c" } }, spec: { title: "b" } };
  await cluster.client.patch(Site, key, { type: "merge", body });
  await until(() => seen.length > 1);
  await operator.idle();
  await cluster.client.patch(ConfigMap, key, { type: "merge", body: { data: { a: "2", b: "2" } } });
  await until(() => seen.length > 2);
  await operator.idle();
  await cluster.client.create(Secret, { metadata: key, stringData: { a: "1", b: "1" } });
  await until(() => seen.length > 3);
  await cluster.client.patch(Secret, key, { type: "merge", body: { stringData: { a: "2", b: "2" } } });
  await until(() => seen.length > 4);
  const [labels, kept] = [["spec.title", "metadata.labels[a/b]"], ["data.a"]];
  expect(seen).toEqual([undefined, labels, ["data.a", "data.b"], undefined, kept]);
});

test("of an object whose metadata alone is known, the paths are those of the manager that changed it", async () => {
  const counting = defineController({
    name: "counting",
    for: Site,
    watches: [watch(ConfigMap, { select: "metadata", enqueue: () => [key] })],
    async reconcile() {},
  });
  const { runs } = await record(Site, counting);
  await cluster.client.create(ConfigMap, { metadata: key, data: { a: "1" } });
  await cluster.client.create(Site, { metadata: key, spec: { title: "" } });
  await ended(() => runs("counting", "one"), 1);
  const editor = cluster.client.with({ manager: "editor" });
  await editor.patch(ConfigMap, key, { type: "merge", body: { data: { b: "2" } } });
  await until(() => runs("counting", "one")[0]!.causes[0]!.type === "update");
  expect(runs("counting", "one")[0]!.causes).toMatchObject([
    { source: "watches", by: { manager: "editor" }, changes: [{ path: "data.b" }] },
  ]);
});

test("finalizers, pruned and refused children, dry runs and reads are told", async () => {
  const busy = defineController({
    name: "busy",
    for: Site,
    owns: [ConfigMap],
    uses: [allow(ConfigMap, "list", "patch")],
    async reconcile({ metadata: { name }, spec: { title } }, { children, client }) {
      await client.live.list(ConfigMap, { namespace: "default" });
      await client.find(Site, { namespace: "default", name });
      await client.find(Site, { namespace: "default", name });
      const map = (suffix: string) => of(ConfigMap, { metadata: { name: `${name}-${suffix}` }, data: { title } });
      const set = { first: map("a"), second: title === "two" ? undefined : map("b"), taken: map("taken") };
      await children.sync(set, { onForeign: "skip", dryRun: true });
      await children.sync(set, { onForeign: "skip" });
    },
    async finalize() {},
  });
  const { runs } = await record(Site, busy);
  await cluster.client.create(ConfigMap, { metadata: { ...key, name: "one-taken" } });
  await cluster.client.create(Site, { metadata: key, spec: { title: "one" } });
  const [first] = await ended(() => runs("busy", "one"), 1);
  expect(first).toMatchObject({ phase: "reconcile", finalizer: "added" });
  expect(first!.requests.map(({ verb, dryRun, by, object }) => [verb, dryRun, by, object.kind])).toEqual([
    ["patch", undefined, "runtime", "Site"],
    ["list", undefined, "author", "ConfigMap"],
    ["get", undefined, "runtime", "ConfigMap"], // the cache does not know whose the object of that name is
    ["create", true, "runtime", "ConfigMap"],
    ["create", true, "runtime", "ConfigMap"],
    ["get", undefined, "runtime", "ConfigMap"],
    ["create", undefined, "runtime", "ConfigMap"],
    ["create", undefined, "runtime", "ConfigMap"],
    ["patch", undefined, "runtime", "Site"],
  ]);
  expect(first!.reads.map(({ verb, from, count, key: of }) => [verb, from, count, of])).toEqual([
    ["list", "server", 1, "default"],
    ["get", "cache", 2, "default/one"],
    ["get", "server", 2, "default/one-taken"],
  ]);
  expect(Object.fromEntries(first!.children.map(({ name, action }) => [name, action]))).toEqual({
    first: "created",
    second: "created",
    taken: "skipped",
  });
  expect(first!.children).toHaveLength(3);
  await cluster.client.patch(Site, key, { type: "merge", body: { spec: { title: "two" } } });
  await until(() => runs("busy", "one").some(({ children }) => children.some(({ action }) => action === "deleted")));
  await cluster.client.delete(Site, key);
  await until(() => runs("busy", "one").some(({ phase, duration }) => phase === "finalize" && duration !== undefined));
  expect(runs("busy", "one").find(({ phase }) => phase === "finalize")).toMatchObject({ finalizer: "removed" });
});

test("no value of a Secret or of a sensitive field is recorded, wherever a run takes it", async () => {
  const markers = Array.from({ length: 10 }, (_, index) => `MARKER-${index}-${crypto.randomUUID()}`);
  const leaking = defineController({
    name: "leaking",
    for: Site,
    owns: [ConfigMap, Secret],
    reads: [Secret],
    async reconcile({ metadata: { name }, spec: { login = "" } }, { children, client, events, log, status }) {
      const secret = await client.get(Secret, { namespace: "default", name: "login" });
      const texts = Object.values(secret.data ?? {}).map((text) => Buffer.from(text, "base64").toString());
      await children.sync({
        page: of(ConfigMap, { metadata: { name }, data: { url: `http://${login}@${texts[0]}`, all: texts.join() } }),
        copy: of(Secret, { metadata: { name: `${name}-copy` }, stringData: { login, more: texts[1]! } }),
      });
      log.info(`Uses ${texts[2]}`, { texts, login, nested: { secret } });
      events.warning("Leak", `Uses ${texts[3]} and ${login}`);
      status.set({ title: texts[4] });
      status.condition({ type: "Ready", status: false, reason: "Leak", message: texts[5]! });
      throw new Error(`Cannot use ${texts[6]} and ${login}`);
    },
  });
  const { runs, history } = await record(Site, leaking);
  const data = (from: readonly string[]) => Object.fromEntries(from.map((text, index) => [`k${index}`, text]));
  await cluster.client.create(Secret, { metadata: { ...key, name: "login" }, stringData: data(markers.slice(0, 8)) });
  await cluster.client.create(Site, { metadata: key, spec: { title: "", login: markers[8]! } });
  await until(() => runs("leaking", "one").filter(({ outcome }) => outcome?.result === "error").length > 1);
  await cluster.client.patch(Site, key, { type: "merge", body: { spec: { login: markers[9] } } });
  const changed = (run: RunAnswer): boolean => run.causes.some(({ changes }) => changes?.[0]?.path === "spec.login");
  await until(() => runs("leaking", "one").some((run) => run.duration !== undefined && changed(run)));
  const text = JSON.stringify([...history.runs()]);
  for (const marker of markers) {
    expect(text).not.toContain(marker);
    expect(text).not.toContain(Buffer.from(marker).toString("base64").slice(0, 40));
  }
  expect(text).toContain("data.url");
  expect(
    runs("leaking", "one")
      .find(changed)!
      .causes.flatMap(({ changes = [] }) => changes),
  ).toContainEqual({
    path: "spec.login",
    old: "[redacted]",
    new: "[redacted]",
    redacted: true,
  });
});

test("a deletion names the run that has deleted the object", async () => {
  const pruning = defineController({
    name: "pruning",
    for: Site,
    owns: [ConfigMap],
    async reconcile({ spec: { title } }, { children }) {
      const map = (name: string) => of(ConfigMap, { metadata: { name } });
      await children.sync({ first: map("first"), second: title === "" ? undefined : map("second") });
    },
  });
  const watching = defineController({
    name: "watching",
    for: Site,
    watches: [watch(ConfigMap, { enqueue: () => [key] })],
    async reconcile() {},
  });
  const { runs, operator } = await record(Site, pruning, watching);
  await cluster.client.create(Site, { metadata: key, spec: { title: "both" } });
  await ended(() => runs("pruning", "one"), 1);
  await operator.idle();
  await cluster.client.patch(Site, key, { type: "merge", body: { spec: { title: "" } } });
  const causes = () => runs("watching", "one").flatMap(({ causes: some }) => some);
  await until(() => causes().some(({ type }) => type === "delete"));
  expect(causes().find(({ type }) => type === "delete")).toMatchObject({
    object: { kind: "ConfigMap", name: "second" },
    run: { controller: "pruning", key: "default/one", id: runs("pruning", "one")[0]!.id },
  });
});
