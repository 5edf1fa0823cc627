/** Who comes late, and needs more of each object than was kept before. */
import { afterEach, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { HandlerWitness } from "../../tests/support/handler-witness.ts";
import { listOf, refusal, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { systemClock } from "../platform/clock.ts";
import { type AnyObject, handle } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Delivery } from "./delivery.ts";
import { DeltaProcessor } from "./delta-processor.ts";
import type { InformerHandler } from "./informer-handler.ts";
import { InformerRegistry } from "./informer-registry.ts";
import { isStub, type Needs, ObjectTransformer } from "./object-transformer.ts";
import { SharedInformer } from "./shared-informer.ts";
import { Indexer } from "./store.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
const silent = { debug() {}, info() {}, warn() {}, error() {} };
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

function object(name: string, version: number, more: { uid?: string; owner?: string; namespace?: string } = {}) {
  const { uid = `uid-${name}`, owner, namespace = "ns" } = more;
  const managedFields = [{ manager: "x" }, { manager: "y" }];
  const labels = owner === undefined ? undefined : { owner };
  const metadata = { name, namespace, uid, resourceVersion: String(version), creationTimestamp: "", labels };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, managedFields },
    data: { v: String(version) },
  };
}

const ownedBy = (owner: string) => (one: AnyObject) => one.metadata.labels?.["owner"] === owner;
const NEEDS: Readonly<Record<string, Needs>> = {
  x: { bodies: ownedBy("x"), managers: ["x"] },
  y: { bodies: ownedBy("y"), managers: ["y"] },
  all: { bodies: "all", managers: [] },
  allOfY: { bodies: "all", managers: ["y"] },
};

async function setUp(objects: () => object[], version = 10) {
  const server = cleanup.use(await ScriptedServer.start());
  const transport = createTransport(server.config);
  cleanup.defer(() => transport.close());
  const clock = new FakeClock();
  const registry = new InformerRegistry({
    transport,
    mapper: new RestMapper(transport),
    clock,
    log: silent,
    random: () => 0,
  });
  cleanup.defer(() => registry.stop());
  server.onList = () => ({ body: listOf(objects(), String(version)) });
  const early = registry.acquire(ConfigMap, { needs: NEEDS["x"]!, user: "early" });
  await until(() => server.watches.length === 1 && early.informer.hasSynced);
  return { server, clock, registry, early, informer: early.informer };
}

function recorder() {
  const told: string[] = [];
  const text = ({ metadata }: AnyObject) => `${metadata.name}@${metadata.resourceVersion}`;
  const handler: InformerHandler = {
    onAdd: (one, { isInInitialList }) => void told.push(`${isInInitialList ? "initial" : "add"} ${text(one)}`),
    onUpdate: (one, old) => void told.push(`update ${text(one)} from ${text(old)}`),
    onDelete: (one) => void told.push(`delete ${text(one)}`),
  };
  return { handler, take: () => told.splice(0) };
}

describe("a handler that comes late and needs more", () => {
  test("INF-05 sees what was kept as stubs as new, and is synced only after that", async () => {
    const { server, registry, informer } = await setUp(() => [
      object("foreign", 1),
      object("mine", 2, { owner: "x" }),
      object("other", 3),
    ]);
    const second = Promise.withResolvers<void>();
    server.onList = async () => {
      await second.promise;
      return { body: listOf([object("foreign", 1), object("mine", 2, { owner: "x" }), object("other", 4)], "20") };
    };
    const before = recorder();
    informer.addHandler(before.handler, { name: "early" });
    const lease = registry.acquire(ConfigMap, { needs: NEEDS["all"]!, user: "late" });
    const { handler, take } = recorder();
    const registration = lease.informer.addHandler(handler, { name: "late" });
    const changes: boolean[] = [];
    lease.informer.onChange(() => changes.push(registration.hasSynced));
    expect([take(), registration.hasSynced, lease.hasSynced]).toEqual([["initial mine@2"], false, false]);
    await until(() => server.lists.length === 2);
    expect([registration.hasSynced, lease.hasSynced]).toEqual([false, false]);
    second.resolve();
    await until(() => registration.hasSynced);
    expect([take(), lease.hasSynced, changes.includes(true)]).toEqual([
      ["initial foreign@1", "initial other@4"],
      true,
      true,
    ]);
    expect(before.take()).toEqual(["initial mine@2", "initial foreign@1", "initial other@4"]);
    expect(informer.relists).toEqual({ needs: 1 });
  });

  test("sees a stub that changes as new, and the change before is never told", async () => {
    const { server, early, informer } = await setUp(() => [object("a", 1), object("b", 2)]);
    const { handler, take } = recorder();
    informer.addHandler(handler, { name: "late" });
    server.watch.send(["MODIFIED", object("a", 11)], ["MODIFIED", object("b", 12, { owner: "x" })]);
    await until(() => informer.resourceVersion === "12");
    expect(take()).toEqual(["add b@12"]);
    server.watch.send(["MODIFIED", object("b", 13)], ["MODIFIED", object("b", 14)], ["DELETED", object("a", 15)]);
    await until(() => informer.resourceVersion === "15");
    expect(take()).toEqual(["delete b@12"]);
    server.watch.send(["MODIFIED", object("b", 16, { owner: "x" })], ["DELETED", object("b", 17, { owner: "x" })]);
    await until(() => informer.resourceVersion === "17");
    expect([take(), early.hasSynced]).toEqual([["add b@16", "delete b@17"], true]);
  });

  test("sees nothing of stubs that are replaced, resynced, or go with their kind", async () => {
    const { server, clock, informer } = await setUp(() => [object("a", 1), object("b", 2, { owner: "x" })]);
    const { handler, take } = recorder();
    informer.addHandler(handler, { name: "late", resync: 1_000 });
    expect(take()).toEqual(["initial b@2"]);
    clock.advance(1_000);
    expect(take()).toEqual(["update b@2 from b@2"]);
    server.watch.send(["ADDED", object("a", 11, { uid: "second" })]);
    await until(() => informer.resourceVersion === "11");
    server.watch.send(["ADDED", object("a", 12, { uid: "third", owner: "x" })]);
    server.watch.send(["ADDED", object("a", 13, { uid: "fourth" })]);
    await until(() => informer.resourceVersion === "13");
    expect(take()).toEqual(["add a@12", "delete a@12"]);
    server.onList = () => refusal(404, "NotFound", "the server could not find the requested resource");
    server.watch.send(["ERROR", refusal(410, "Expired", "too old resource version").body]);
    await until(() => !informer.hasSynced);
    expect(take()).toEqual(["delete b@2"]);
  });

  test("is synced when each of its namespaces has been listed again", async () => {
    const server = cleanup.use(await ScriptedServer.start());
    const transport = createTransport(server.config);
    cleanup.defer(() => transport.close());
    const registry = new InformerRegistry({
      transport,
      mapper: new RestMapper(transport),
      log: silent,
      random: () => 0,
    });
    cleanup.defer(() => registry.stop());
    const gates = new Map([
      ["one", Promise.resolve()],
      ["two", Promise.resolve()],
    ]);
    server.onList = async ({ path }) => {
      const namespace = path.split("/")[4]!;
      await gates.get(namespace);
      return { body: listOf([object("a", 1, { namespace, uid: namespace })], "10") };
    };
    const namespaces = ["one", "two"];
    const early = registry.acquire(ConfigMap, { namespaces, needs: NEEDS["x"]!, user: "early" });
    await until(() => early.hasSynced);
    const two = Promise.withResolvers<void>();
    gates.set("two", two.promise);
    const late = registry.acquire(ConfigMap, { namespaces, needs: NEEDS["all"]!, user: "late" });
    const { handler, take } = recorder();
    const registration = late.informer.addHandler(handler, { name: "late" });
    await until(() => late.informer.store.get("one/a") !== undefined && !isStub(late.informer.store.get("one/a")!));
    await until(() => server.watches.length >= 3);
    expect([registration.hasSynced, take(), early.hasSynced]).toEqual([false, ["initial a@1"], true]);
    two.resolve();
    await until(() => registration.hasSynced);
    expect(take()).toEqual(["initial a@1"]);
  });

  test("is synced at once where nothing more is needed, and a lease whose needs grow is synced after a list", async () => {
    const { server, registry, early, informer } = await setUp(() => [object("a", 1), object("b", 2, { owner: "x" })]);
    const { handler, take } = recorder();
    expect(informer.addHandler(handler, { name: "late" }).hasSynced).toBe(true);
    expect(registry.acquire(ConfigMap, { needs: NEEDS["x"]!, user: "same" }).hasSynced).toBe(true);
    early.setNeeds(NEEDS["x"]!);
    expect(early.hasSynced).toBe(true);
    early.setNeeds({ bodies: "all", managers: [] });
    expect(early.hasSynced).toBe(false);
    await until(() => early.hasSynced);
    expect([take(), server.lists.length]).toEqual([["initial b@2", "initial a@1"], 2]);
  });

  test("sees what this process made its own as new with its origin, and the change that a list shows of it after that", async () => {
    const { server, registry, informer } = await setUp(() => [object("a", 1)]);
    const told: string[] = [];
    informer.addHandler(
      {
        onAdd: ({ metadata }, { origin }) => void told.push(`add ${metadata.resourceVersion} ${origin}`),
        onUpdate: ({ metadata }, old, { isFirstFromOutside }) =>
          void told.push(
            `update ${metadata.resourceVersion} from ${old.metadata.resourceVersion} ${isFirstFromOutside}`,
          ),
        onDelete: () => {},
      },
      { name: "late" },
    );
    registry.beginWrite(ConfigMap, "ns/a");
    registry.endWrite(ConfigMap, "ns/a", { object: object("a", 11, { owner: "x" }), origin: "me" });
    server.onList = () => ({ body: listOf([object("a", 13, { owner: "x" })], "20") });
    server.watch.send(["ERROR", refusal(410, "Expired", "too old resource version").body]);
    await until(() => informer.resourceVersion === "20");
    expect(told).toEqual(["add 11 me", "update 13 from 11 true"]);
  });

  test("does not wait for a namespace that came later", async () => {
    const server = cleanup.use(await ScriptedServer.start());
    const transport = createTransport(server.config);
    cleanup.defer(() => transport.close());
    const informer = new SharedInformer(ConfigMap, {
      transport,
      mapper: new RestMapper(transport),
      namespaceLabels: "team=a",
      random: () => 0,
    });
    cleanup.defer(() => informer.stop());
    const never = new Promise<never>(() => {});
    server.onList = ({ path }) =>
      path.includes("/later/") ? never : { body: listOf([object("a", 1, { namespace: "first" })], "10") };
    informer.setNeeds([NEEDS["x"]!]);
    informer.addNamespace("first");
    informer.setSelection({ kind: "watching" }, true);
    informer.start();
    await until(() => informer.hasSynced && server.watches.length === 1);
    informer.addNamespace("later");
    await until(() => server.lists.length === 2);
    informer.setNeeds([NEEDS["all"]!]);
    const { handler, take } = recorder();
    const registration = informer.addHandler(handler, { name: "late" });
    expect(registration.hasSynced).toBe(false);
    await until(() => registration.hasSynced);
    expect(take()).toEqual(["initial a@1"]);
  });

  test("waits for an object whose event is held while it is listed again", async () => {
    const { server, registry, informer } = await setUp(() => [object("a", 1)], 10);
    registry.beginWrite(ConfigMap, "ns/a");
    server.watch.send(["MODIFIED", object("a", 11)]);
    await until(() => informer.resourceVersion === "11");
    server.onList = () => ({ body: listOf([object("a", 11)], "20") });
    const late = registry.acquire(ConfigMap, { needs: NEEDS["all"]!, user: "late" });
    const { handler, take } = recorder();
    const registration = late.informer.addHandler(handler, { name: "late" });
    await until(() => server.watches.length === 2);
    expect([take(), registration.hasSynced]).toEqual([[], false]);
    registry.endWrite(ConfigMap, "ns/a", undefined);
    expect([take().map((one) => one.split(" ")[1]), registration.hasSynced]).toEqual([["a@11"], true]);
  });
});

const KEYS = ["a", "b", "c"] as const;
const OWNERS = [undefined, "x", "y"] as const;

/** Objects at a server, and the events of a watch that comes late. */
class World {
  version = 10;
  #uids = 0;
  readonly now = new Map<string, AnyObject>();
  readonly stream: { type: "ADDED" | "MODIFIED" | "DELETED"; object: AnyObject }[] = [];

  put(name: string, owner: string | undefined): AnyObject {
    const before = this.now.get(name);
    const uid = before?.metadata.uid ?? `u${++this.#uids}`;
    const made = object(name, ++this.version, { uid, ...(owner !== undefined && { owner }) });
    this.now.set(name, made);
    this.stream.push({ type: before === undefined ? "ADDED" : "MODIFIED", object: made });
    return made;
  }

  remove(name: string): string | undefined {
    const before = this.now.get(name);
    if (before === undefined) return undefined;
    this.now.delete(name);
    const { metadata } = before;
    const gone = { ...before, metadata: { ...metadata, resourceVersion: String(++this.version) } };
    this.stream.push({ type: "DELETED", object: gone });
    return metadata.uid;
  }
}

const copy = <T>(value: T): T => structuredClone(value);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      name: fc.constantFrom(...KEYS),
      owner: fc.constantFrom(...OWNERS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), name: fc.constantFrom(...KEYS) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("event" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("own" as const),
      name: fc.constantFrom(...KEYS),
      owner: fc.constantFrom(...OWNERS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("ownRemove" as const), name: fc.constantFrom(...KEYS) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("answer" as const), at: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("come" as const), needs: fc.constantFrom(...Object.keys(NEEDS)) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), at: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("expire" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("list" as const) }) },
);

test("whoever comes, needs and leaves in whatever order sees each object as new, once, before anything else, and no stub", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      const store = new Indexer();
      const held = new Map<string, number>();
      const transformer = new ObjectTransformer({
        transform: undefined,
        keep: undefined,
        freeze: true,
        log: silent,
        informer: "test",
      });
      const delivery = new Delivery(store, { log: silent, clock: systemClock, informer: "test", onResync: () => {} });
      let needed = 0;
      const processor = new DeltaProcessor({
        store,
        delivery,
        held,
        namespace: "",
        transformer,
        needs: () => needed,
        covers: () => true,
        onHeard: () => {},
        onSynced: () => {},
      });
      const users = new Map<number, { needs: Needs; witness: HandlerWitness; since: number; leave: () => void }>();
      let arrived = 0;
      let reason: "initial" | "needs" | "gone" | undefined = "initial";
      /** What the pages of the list under way have not shown. */
      let pages: AnyObject[] | undefined;
      let listed = 0;
      const answers: (() => void)[] = [];
      const need = (): void => {
        if (!transformer.setNeeds([...users.values()].map(({ needs }) => needs))) return;
        needed++;
        if (!processor.hasTaken) return;
        pages = undefined; // the list under way, or the watch, ends
        reason = "needs";
      };
      const list = (): void => {
        if (pages === undefined) {
          pages = [...world.now.values()];
          listed = world.version;
          world.stream.length = 0; // a watch goes on from the list
          processor.beginList(reason!);
          return;
        }
        const next = pages.shift();
        if (next !== undefined) return processor.page([copy(next)], String(listed));
        pages = undefined;
        reason = undefined;
        processor.endList(String(listed));
      };
      const write = (name: string, made: AnyObject | undefined, uid: string | undefined): void => {
        const key = `ns/${name}`;
        held.set(key, (held.get(key) ?? 0) + 1);
        answers.push(() => {
          const others = held.get(key)! - 1;
          if (others === 0) held.delete(key);
          else held.set(key, others);
          const origin = "me";
          if (made !== undefined) {
            processor.recordWrite(key, { object: copy(made), origin });
          } else processor.recordWrite(key, { deleted: { uid: uid! }, origin });
          if (others === 0) processor.release(key);
        });
      };
      const event = (): void => {
        const next = reason === undefined ? world.stream.shift() : undefined;
        if (next === undefined) return;
        processor.event(next.type, copy(next.object));
        processor.flush();
      };
      const check = (): void => {
        const whole = new Map([...store.entries()].filter(([, one]) => !isStub(one)));
        for (const { witness, since } of users.values()) {
          expect(witness.problems).toEqual([]);
          expect(new Set(witness.known.keys())).toEqual(new Set(whole.keys()));
          for (const [key, one] of whole) expect(witness.known.get(key)?.metadata.uid).toBe(one.metadata.uid);
          if (processor.synced && processor.needsMet >= since) {
            // Nothing that anybody needs is a stub from then on.
            for (const one of store.values()) {
              if (!isStub(one)) continue;
              const now = world.now.get(one.metadata.name);
              if (now?.metadata.resourceVersion !== one.metadata.resourceVersion) continue;
              for (const user of users.values()) {
                if (user.since > processor.needsMet) continue;
                expect(user.needs.bodies === "all" || user.needs.bodies(now)).toBe(false);
              }
            }
          }
        }
      };
      for (const one of steps) {
        if (one.do === "put") world.put(one.name, one.owner);
        else if (one.do === "remove") world.remove(one.name);
        else if (one.do === "event") event();
        else if (one.do === "own") write(one.name, world.put(one.name, one.owner), undefined);
        else if (one.do === "ownRemove") {
          const uid = world.remove(one.name);
          if (uid !== undefined) write(one.name, undefined, uid);
        } else if (one.do === "answer") answers.splice(one.at % Math.max(answers.length, 1), 1)[0]?.();
        else if (one.do === "come") {
          const witness = new HandlerWitness();
          const id = arrived++;
          users.set(id, { needs: NEEDS[one.needs]!, witness, since: 0, leave: () => {} });
          need();
          const handler = delivery.addHandler(witness, { name: String(id) });
          users.set(id, { needs: NEEDS[one.needs]!, witness, since: needed, leave: () => handler[Symbol.dispose]() });
        } else if (one.do === "leave") {
          const id = [...users.keys()][one.at];
          if (id !== undefined) {
            users.get(id)!.leave();
            users.delete(id);
            need();
          }
        } else if (one.do === "expire") {
          if (reason === undefined) reason = "gone";
        } else if (one.do === "list" && reason !== undefined) list();
        check();
      }
      while (answers.length > 0) {
        answers.shift()!();
        check();
      }
      const isListing = (): boolean => reason !== undefined;
      while (isListing()) {
        list();
        check();
      }
      while (world.stream.length > 0) {
        event();
        check();
      }
      expect(processor.needsMet).toBe(needed);
      for (const [name, now] of world.now) {
        const stored = store.get(`ns/${name}`);
        expect(stored?.metadata.resourceVersion).toBe(now.metadata.resourceVersion);
        for (const { needs } of users.values()) {
          if (needs.bodies === "all" || needs.bodies(now)) expect(stored).toHaveProperty("data");
        }
      }
      expect(store.size).toBe(world.now.size);
    }),
    { numRuns: 4_000 },
  );
});
