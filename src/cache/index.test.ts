import { afterEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as cache from "binnacle/cache";
import {
  connect,
  DeltaFIFO,
  FIFO,
  Indexer,
  keyString,
  Lister,
  Reflector,
  SharedInformer,
  StoreSink,
  WorkQueue,
} from "binnacle/cache";
import { ConfigMap } from "binnacle/resources";
import { listOf, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function object(name: string, version: number) {
  const metadata = { name, namespace: "ns", uid: name, resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

async function setUp() {
  const server = cleanup.use(await ScriptedServer.start());
  const dir = await mkdtemp(join(tmpdir(), "binnacle-cache-"));
  cleanup.defer(() => rm(dir, { recursive: true }));
  const kubeconfig = join(dir, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: server.config.server } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const cluster = cleanup.use(await connect({ kubeconfig, env: {} }));
  server.onList = () => ({ body: listOf([object("a", 1), object("b", 2)], "2") });
  return { server, cluster, kubeconfig };
}

test("binnacle/cache exports exactly this: a name that goes breaks its users", () => {
  expect(Object.keys(cache).sort()).toEqual([
    "Delta",
    "DeltaFIFO",
    "ExpirationStore",
    "FIFO",
    "Indexer",
    "ListSemaphore",
    "Lister",
    "Reflector",
    "SharedInformer",
    "Store",
    "StoreSink",
    "StreamMemory",
    "UndeltaStore",
    "WorkQueue",
    "bucket",
    "connect",
    "exponential",
    "fastSlow",
    "keyString",
    "maxOf",
    "parseKey",
    "withMaxWait",
  ]);
});

test("the worked example of the documentation prints what it says", async () => {
  const { server, kubeconfig } = await setUp();
  const shop = (name: string, version: number, labels?: Record<string, string>) => {
    const { metadata, ...rest } = object(name, version);
    return { ...rest, metadata: { ...metadata, namespace: "shop", ...(labels && { labels }) } };
  };
  server.onList = () => ({ body: listOf([shop("settings", 1, { app: "web" }), shop("texts", 2)], "2") });
  const root = join(import.meta.dirname, "../..");
  const page = await readFile(join(root, "docs/cache.md"), "utf8");
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language,
    text: text!,
  }));
  // Inside of the checkout, where the names of the package resolve.
  await mkdir(join(root, "node_modules/.cache"), { recursive: true });
  const dir = await mkdtemp(join(root, "node_modules/.cache/example-"));
  cleanup.defer(() => rm(dir, { recursive: true }));
  const file = join(dir, "example.ts");
  await writeFile(file, blocks.find(({ language }) => language === "ts")!.text);
  const example = Bun.spawn([process.execPath, file], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stderr: "pipe",
  });
  const [printed, errors] = await Promise.all([example.stdout, example.stderr].map((out) => new Response(out).text()));
  expect(`${printed}${errors}`).toBe(blocks.at(-1)!.text);
}, 30_000);

test("an informer, a lister and a queue make a controller", async () => {
  const { server, cluster } = await setUp();
  const transformed: string[] = [];
  const informer = new SharedInformer(ConfigMap, {
    ...cluster,
    transform: (given) => {
      transformed.push(given.metadata.name);
      return { ...given, data: undefined };
    },
  });
  cleanup.defer(() => informer.stop());
  const queue = new WorkQueue({ name: "maps" });
  const add = ({ metadata }: { metadata: { name: string; namespace?: string | undefined } }): void =>
    queue.add(keyString(metadata));
  const handler = cleanup.use(informer.addHandler({ onAdd: add, onUpdate: add, onDelete: add }, { name: "maps" }));
  informer.start();
  await until(() => handler.hasSynced);
  expect([(await queue.get())?.key, (await queue.get())?.key]).toEqual(["ns/a", "ns/b"]);
  queue.done("ns/a");
  queue.done("ns/b");
  await until(() => server.watches.length === 1);
  server.watch.send(["MODIFIED", object("a", 3)]);
  expect((await queue.get())?.key).toBe("ns/a");
  expect(new Lister(informer.store).namespace("ns").get("a")?.metadata.resourceVersion).toBe("3");
  expect(transformed).toEqual(["a", "b", "a"]);
});

test("a reflector fills a DeltaFIFO that a consumer pops into an indexer", async () => {
  const { server, cluster } = await setUp();
  const indexer = new Indexer();
  const fifo = new DeltaFIFO({ known: indexer });
  const stop = new AbortController();
  const running = new Reflector({ resource: ConfigMap, namespace: "", ...cluster, sink: new StoreSink(fifo) }).run(
    stop.signal,
  );
  const step = () =>
    fifo.pop(({ deltas }) => {
      for (const { type, object: one } of deltas) {
        if (type === "Deleted") indexer.delete(one);
        else indexer.update(one);
      }
      return deltas.map(({ type, object: { metadata } }) => `${type} ${metadata.name}`).join();
    });
  expect([await step(), await step(), fifo.hasSynced]).toEqual(["Replaced a", "Replaced b", true]);
  await until(() => server.watches.length === 1);
  server.watch.send(["DELETED", object("a", 3)]);
  expect(await step()).toBe("Deleted a");
  expect([...indexer.keys()]).toEqual(["ns/b"]);
  stop.abort();
  await running;
});

test("a reflector fills a FIFO", async () => {
  const { cluster } = await setUp();
  const fifo = new FIFO();
  const stop = new AbortController();
  const running = new Reflector({ resource: ConfigMap, namespace: "ns", ...cluster, sink: new StoreSink(fifo) }).run(
    stop.signal,
  );
  expect(await fifo.pop(({ metadata }) => metadata.name)).toBe("a");
  stop.abort();
  await running;
});
