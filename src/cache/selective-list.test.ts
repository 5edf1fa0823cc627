import { afterEach, expect, test } from "bun:test";
import { array, assert, asyncProperty, boolean, constantFrom, integer, oneof, record } from "fast-check";
import { HandlerWitness } from "../../tests/support/handler-witness.ts";
import {
  refusal,
  type ScriptedAnswer,
  type ScriptedRequest,
  ScriptedServer,
} from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { parseFieldSelector } from "../resource/field-selector.ts";
import { type AnyObject, handle } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { parseLabelSelector } from "../resource/selector.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { isStub, type Needs } from "./object-transformer.ts";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.ts";
import { StreamMemory } from "./streaming-list.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
const PATH = "/api/v1/configmaps";
const ours: Needs = { bodies: ({ metadata }) => metadata.ownerReferences !== undefined, managers: [] };
const everything: Needs = { bodies: "all", managers: [] };

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

interface Draft {
  readonly namespace?: string;
  readonly name: string;
  readonly owned?: boolean;
  readonly labels?: Record<string, string>;
}

type Stored = AnyObject & { readonly data: { readonly version: string } };

/** A collection with versions, as kube-apiserver answers for it. */
class World {
  readonly objects = new Map<string, Stored>();
  readonly history: (readonly [type: string, object: Stored])[] = [];
  readonly #snapshots = new Map<string, readonly Stored[]>();
  version = 100;
  hasMetadata = true;

  put({ namespace = "ns", name, owned = false, labels }: Draft): void {
    const version = String(++this.version);
    const key = `${namespace}/${name}`;
    const known = this.objects.get(key);
    const uid = known?.metadata.uid ?? `uid-${version}`;
    const owner = { apiVersion: "v1", kind: "Owner", name: "o", uid: "o", controller: true };
    const metadata = { namespace, name, uid, resourceVersion: version, creationTimestamp: "", labels };
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: owned ? { ...metadata, ownerReferences: [owner] } : metadata,
      data: { version },
    };
    this.objects.set(key, object);
    this.history.push([known === undefined ? "ADDED" : "MODIFIED", object]);
  }

  remove(key: string): void {
    const known = this.objects.get(key);
    if (known === undefined) return;
    this.objects.delete(key);
    const metadata = { ...known.metadata, resourceVersion: String(++this.version) };
    this.history.push(["DELETED", { ...known, metadata }]);
  }

  /** Events after a version. */
  since(version: string): (readonly [type: string, object: Stored])[] {
    return this.history.filter(([, { metadata }]) => Number(metadata.resourceVersion) > Number(version));
  }

  answer = ({ path, query, accept }: ScriptedRequest): ScriptedAnswer => {
    const labels = parseLabelSelector(query.get("labelSelector") ?? "");
    const fields = parseFieldSelector(query.get("fieldSelector") ?? "");
    const namespace = /namespaces\/([^/]+)/.exec(path)?.[1];
    const [version, from] = (query.get("continue") ?? `${this.version} 0`).split(" ") as [string, string];
    if (!this.#snapshots.has(version)) {
      const sorted = [...this.objects.values()].sort((a, b) =>
        keyString(a.metadata) < keyString(b.metadata) ? -1 : 1,
      );
      this.#snapshots.set(version, sorted);
    }
    const all = this.#snapshots
      .get(version)!
      .filter(
        (object) =>
          (namespace === undefined || object.metadata.namespace === namespace) &&
          labels.matches(object.metadata.labels) &&
          fields.matches(object),
      );
    const end = Number(from) + (Number(query.get("limit")) || all.length);
    const metadata = { resourceVersion: version, continue: end < all.length ? `${version} ${end}` : undefined };
    const items = all.slice(Number(from), end);
    if (!this.hasMetadata || !accept.includes("PartialObjectMetadataList")) {
      return { body: { apiVersion: "v1", kind: "ConfigMapList", metadata, items } };
    }
    const bare = items.map((item) => ({ kind: "Partial", metadata: item.metadata }));
    return { body: { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadataList", metadata, items: bare } };
  };
}

async function setUp(world: World, options: Partial<SharedInformerOptions> = {}, needs: readonly Needs[] = [ours]) {
  const server = cleanup.use(await ScriptedServer.start());
  server.onList = world.answer;
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const streams = new StreamMemory();
  const mapper = new RestMapper(transport);
  const random = (): number => 0;
  const informer = new SharedInformer(ConfigMap, { transport, mapper, clock, streams, random, ...options });
  informer.setNeeds(needs);
  const witness = new HandlerWitness();
  informer.addHandler(witness, { name: "test" });
  cleanup.defer(() => informer.stop());
  informer.start();
  const asked = (): string[] =>
    server.lists.map(({ path, query, accept }) => {
      const what = accept.includes("Partial") ? "metadata of" : "whole";
      return `${what} ${path}?${decodeURIComponent(String(query))}`;
    });
  const whole = (): string[] =>
    Array.from(informer.store.values())
      .filter((object) => !isStub(object))
      .map(({ metadata, ...rest }) => `${keyString(metadata)}@${(rest as Stored).data.version}`)
      .sort();
  return { server, clock, streams, informer, witness, asked, whole };
}

const fill = (world: World, count: number, make: (index: number) => Draft): void => {
  for (let index = 0; index < count; index++) world.put(make(index));
};

test("an owned kind is listed by metadata, and the few that are ours by their names, in a state not older", async () => {
  const world = new World();
  fill(world, 30, (index) => ({ name: `o${index}` }));
  world.put({ namespace: "own", name: "x", owned: true });
  const { informer, asked, whole, witness } = await setUp(world, { pageSize: 20 });
  await until(() => informer.hasSynced);
  expect(asked()).toEqual([
    `metadata of ${PATH}?limit=20`,
    `metadata of ${PATH}?limit=20&continue=131+20`,
    "whole /api/v1/namespaces/own/configmaps?limit=20&fieldSelector=metadata.name=x&resourceVersion=131&resourceVersionMatch=NotOlderThan",
  ]);
  expect([informer.store.size, whole(), [...witness.known.keys()]]).toEqual([31, ["own/x@131"], ["own/x"]]);
  expect(informer.resourceVersion).toBe("131");
});

test("many that are ours are got at once by labels that set them apart, and again what these no longer show", async () => {
  const world = new World();
  fill(world, 300, (index) => ({
    namespace: `n${index % 60}`,
    name: `o${index}`,
    labels: { app: "bulk", shard: `${index}` },
  }));
  fill(world, 100, (index) => ({ namespace: `n${index % 60}`, name: `x${index}`, owned: true }));
  const { server, informer, asked, whole } = await setUp(world, { pageSize: 50 });
  server.onList = (request) => {
    if (request.query.get("labelSelector") !== null && !request.query.has("continue") && world.version === 500) {
      world.put({ namespace: "n1", name: "x1", owned: true, labels: { app: "mine" } });
      world.remove("n2/x2");
      world.put({ namespace: "n3", name: "late", owned: true });
    }
    return world.answer(request);
  };
  await until(() => informer.hasSynced);
  expect(asked().slice(8)).toEqual([
    `whole ${PATH}?limit=50&labelSelector=!app&resourceVersion=500&resourceVersionMatch=NotOlderThan`,
    `whole ${PATH}?labelSelector=!app&resourceVersion=500&resourceVersionMatch=NotOlderThan`,
    "whole /api/v1/namespaces/n1/configmaps?limit=50&fieldSelector=metadata.name=x1&resourceVersion=500&resourceVersionMatch=NotOlderThan",
    "whole /api/v1/namespaces/n2/configmaps?limit=50&fieldSelector=metadata.name=x2&resourceVersion=500&resourceVersionMatch=NotOlderThan",
  ]);
  expect(whole()).toHaveLength(99);
  expect(whole()).toContain("n1/x1@501");
  expect(informer.resourceVersion).toBe("500");
  await until(() => server.watches.length === 1);
  server.watch.send(...world.since("500"));
  await until(() => informer.resourceVersion === "503");
  expect(whole()).toContain("n3/late@503");
  expect(whole()).toHaveLength(100);
});

test("where most are ours all are listed whole, and so they are where nothing sets ours apart", async () => {
  const most = new World();
  fill(most, 30, (index) => ({ name: `x${index}`, owned: index % 5 !== 0 }));
  const first = await setUp(most, { pageSize: 20 });
  await until(() => first.informer.hasSynced);
  expect(first.asked()).toEqual([
    `metadata of ${PATH}?limit=20`,
    `whole ${PATH}?limit=20`,
    `whole ${PATH}?limit=20&continue=130+20`,
  ]);
  expect([first.informer.store.size, first.whole().length]).toEqual([30, 24]);
  const same = new World();
  fill(same, 30, (index) => ({ name: `x${index}`, owned: index % 3 === 0 }));
  const second = await setUp(same);
  await until(() => second.informer.hasSynced);
  expect(second.asked()).toEqual([`metadata of ${PATH}?limit=2000`, `whole ${PATH}?limit=500`]);
  expect([second.informer.store.size, second.whole().length]).toEqual([30, 10]);
});

test("a server that has no metadata alone is not asked twice", async () => {
  const world = new World();
  world.hasMetadata = false;
  fill(world, 30, (index) => ({ name: `x${index}`, owned: index % 5 === 0 }));
  const { informer, asked, whole } = await setUp(world);
  await until(() => informer.hasSynced);
  expect([asked(), informer.store.size, whole().length]).toEqual([[`metadata of ${PATH}?limit=2000`], 30, 6]);
});

test("a transform is given whole objects, also where only stubs are kept", async () => {
  const world = new World();
  fill(world, 3, (index) => ({ name: `x${index}`, owned: index === 1 }));
  const given: unknown[] = [];
  const transform = (object: AnyObject): AnyObject => {
    given.push((object as Stored).data);
    return object;
  };
  const { informer, asked, whole } = await setUp(world, { transform });
  await until(() => informer.hasSynced);
  expect([asked(), given, whole()]).toEqual([
    [`whole ${PATH}?limit=500`],
    [{ version: "101" }, { version: "102" }, { version: "103" }],
    ["ns/x1@102"],
  ]);
});

test("what fails on the way to bodies fails the list, and nothing comes of it any more", async () => {
  const world = new World();
  fill(world, 300, (index) => ({ namespace: `n${index}`, name: "o" }));
  fill(world, 12, (index) => ({ namespace: `m${index}`, name: "x", owned: true }));
  const { server, clock, informer, whole } = await setUp(world);
  let isRefused = true;
  server.onList = async (request) => {
    if (!request.query.has("fieldSelector") || !isRefused) return world.answer(request);
    if (request.path.includes("m3/")) return refusal(503, "ServiceUnavailable", "later");
    await new Promise((resolve) => setTimeout(resolve, 20));
    return world.answer(request);
  };
  await until(() => informer.state.kind === "unavailable");
  isRefused = false;
  const before = whole();
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect([whole(), informer.hasSynced]).toEqual([before, false]);
  await clock.advanceInTurns(2_000);
  await until(() => informer.hasSynced);
  expect([whole().length, informer.store.size]).toEqual([12, 312]);
});

test("what is needed more while a list is under way comes whole", async () => {
  const world = new World();
  fill(world, 30, (index) => ({ name: `o${index}`, owned: index === 3 }));
  const { server, informer, whole } = await setUp(world, { pageSize: 10 });
  server.onList = (request) => {
    if (request.query.has("fieldSelector")) informer.setNeeds([ours, everything]);
    return world.answer(request);
  };
  await until(() => informer.hasSynced && whole().length === 30);
});

test("a stream that is no stream of metadata is given up for pages, and so is one that does not end", async () => {
  const world = new World();
  fill(world, 30, (index) => ({ name: `o${index}`, owned: index === 3 }));
  const { server, informer, streams, whole } = await setUp(world, { list: "stream" });
  await until(() => server.watches.length === 1);
  server.watch.send(["ADDED", world.objects.get("ns/o1")]);
  await until(() => informer.hasSynced);
  expect([whole(), streams.isUsable(PATH)]).toEqual([["ns/o3@104"], false]);
  const late = await setUp(world, { list: "stream" });
  await until(() => late.server.watches.length === 1);
  expect(late.server.watch.request.accept).toBe(
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  );
  await late.clock.advanceInTurns(8_000);
  await until(() => late.informer.hasSynced);
  expect([late.whole(), late.streams.reason(PATH)]).toEqual([
    ["ns/o3@104"],
    "The streaming list did not end within 7 s",
  ]);
});

/** Answers as the world does, and says on each page with a successor that so many objects follow. */
function saying(world: World, remainingItemCount: number): ScriptedServer["onList"] {
  return (request) => {
    const { body, ...rest } = world.answer(request);
    const { metadata, ...list } = body as { readonly metadata: { readonly continue?: string } };
    const isLast = metadata.continue === undefined;
    return { ...rest, body: { ...list, metadata: isLast ? metadata : { ...metadata, remainingItemCount } } };
  };
}

test("a long list is streamed, a short one is not, and a server that does not stream is asked for pages from then on", async () => {
  const world = new World();
  fill(world, 2_500, (index) => ({ name: `o${index}`, owned: index === 3 }));
  const before132 = refusal(
    422,
    "Invalid",
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
  );
  for (const [remaining, streamed] of [
    [3_000, 0],
    [30_000, 1],
  ] as const) {
    const { server, informer, streams, whole } = await setUp(world, {});
    let asked = 0;
    server.onList = saying(world, remaining);
    server.onWatch = ({ query }) => {
      if (!query.has("sendInitialEvents")) return undefined;
      asked++;
      return before132;
    };
    await until(() => informer.hasSynced);
    expect([remaining, asked, streams.isUsable(PATH)]).toEqual([remaining, streamed, streamed === 0]);
    expect([informer.store.size, whole()]).toEqual([2_500, ["ns/o3@104"]]);
    const second = new SharedInformer(ConfigMap, { ...(await otherOf(server, streams)) });
    second.setNeeds([ours]);
    cleanup.defer(() => second.stop());
    second.start();
    await until(() => second.hasSynced);
    expect([remaining, asked]).toEqual([remaining, streamed]);
  }
});

/** What another informer of the same server needs. */
async function otherOf(server: ScriptedServer, streams: StreamMemory) {
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  return { transport, mapper: new RestMapper(transport), streams };
}

const draft = record({
  namespace: constantFrom("a", "b"),
  name: constantFrom("p", "q", "r", "s", "t"),
  owned: boolean(),
  labels: constantFrom({}, { app: "x" }, { app: "y" }, { tier: "x" }),
});
const change = oneof(
  record({ put: draft }),
  record({ remove: record({ namespace: constantFrom("a", "b"), name: constantFrom("p", "q", "r", "s", "t") }) }),
);

test("whatever changes while it is listed, and listed again: store and handlers end as the server is", async () => {
  const apply = (
    world: World,
    changes: readonly { put?: Draft; remove?: { namespace: string; name: string } }[],
  ): void => {
    for (const { put, remove } of changes) {
      if (put !== undefined) world.put(put);
      if (remove !== undefined) world.remove(keyString(remove));
    }
  };
  await assert(
    asyncProperty(
      array(draft, { maxLength: 12 }),
      array(array(change, { maxLength: 4 }), { maxLength: 12 }),
      integer({ min: 1, max: 4 }),
      async (first, changes, pageSize) => {
        const world = new World();
        fill(world, 20, (index) => ({ namespace: "c", name: `o${index}`, labels: { app: "bulk" } }));
        for (const one of first) world.put(one);
        const rounds = changes.values();
        const { server, informer, witness, whole } = await setUp(world, { pageSize });
        server.onList = (request) => {
          apply(world, rounds.next().value ?? []);
          const answer = world.answer(request);
          apply(world, rounds.next().value ?? []);
          return answer;
        };
        for (let round = 1; round <= 2; round++) {
          await until(() => server.watches.length === round && informer.hasSynced);
          const { watch } = server;
          const from = watch.request.query.get("resourceVersion")!;
          const end = { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: String(world.version + 1) } };
          world.version++;
          watch.send(...world.since(from), ["BOOKMARK", end]);
          await until(() => informer.resourceVersion === end.metadata.resourceVersion);
          const truth = [...world.objects.values()];
          const wanted = truth.filter(({ metadata }) => metadata.ownerReferences !== undefined);
          expect([...informer.store.keys()].sort()).toEqual(truth.map(({ metadata }) => keyString(metadata)).sort());
          expect(whole()).toEqual(wanted.map(({ metadata, data }) => `${keyString(metadata)}@${data.version}`).sort());
          expect(Array.from(witness.known.values(), (object) => object.metadata.uid).sort()).toEqual(
            wanted.map(({ metadata }) => metadata.uid).sort(),
          );
          expect(witness.problems).toEqual([]);
          if (round === 1) watch.send(["ERROR", refusal(410, "Expired", "too old").body]);
        }
        await cleanup.disposeAsync();
        cleanup = new AsyncDisposableStack();
      },
    ),
    { numRuns: 40 },
  );
}, 180_000);
