import { describe, expect, test } from "bun:test";
import { type AnyObject, handle, type Scope } from "../resource/handle.ts";
import { type EventMappingHost, mappedHandler, ownedHandler, type OwnNews, primaryHandler } from "./event-mapping.ts";
import { changed } from "./predicate.ts";
import { kindWatch, watch } from "./watch.ts";

const Thing = handle({ apiVersion: "acme.io/v1", kind: "Thing", scope: "Namespaced", plural: "things" });
const Part = handle({ apiVersion: "v1", kind: "Part", scope: "Namespaced", plural: "parts" });
const LIVE = { isInInitialList: false };

/** Collects what the handlers enqueue. */
class Collected implements EventMappingHost {
  readonly controller = "thing";
  readonly finalizers = ["acme.io/thing"];
  readonly ownNews: OwnNews = "by hand";
  readonly client = {
    find: () => Promise.reject(),
    list: () => Promise.reject(),
  } as unknown as EventMappingHost["client"];
  readonly keys: string[] = [];
  readonly priorities: (number | undefined)[] = [];
  readonly afterRun: string[] = [];
  readonly left: string[] = [];
  readonly parted: string[] = [];
  readonly errors: unknown[] = [];
  readonly objects = new Map<string, AnyObject>();
  work: Promise<unknown> = Promise.resolve();

  add(key: string, options: { priority?: number }): void {
    this.keys.push(key);
    this.priorities.push(options.priority);
  }
  addAfterRun(key: string): void {
    this.afterRun.push(key);
  }
  leftSelector(key: string): void {
    this.parted.push(key);
  }
  gone(key: string): void {
    this.left.push(key);
  }
  childChanged(): void {}

  childGone(_: unknown, key: string): void {
    this.left.push(key);
  }
  isClusterScoped(resource: { scope: Scope }): boolean {
    return resource.scope === "Cluster";
  }
  call<T>(_: string, call: () => T): T | undefined {
    try {
      return call();
    } catch (error) {
      this.errors.push(error);
      return undefined;
    }
  }
  primary(key: string): AnyObject | undefined {
    return this.objects.get(key);
  }
  pending(work: Promise<unknown>): void {
    this.work = work;
  }
}

function thing(metadata: object = {}, rest: object = {}): AnyObject {
  return {
    apiVersion: "acme.io/v1",
    kind: "Thing",
    metadata: { namespace: "ns", name: "a", uid: "u", ...metadata },
    ...rest,
  } as unknown as AnyObject;
}

function part(owner?: {
  name: string;
  uid?: string;
  apiVersion?: string;
  kind?: string;
  controller?: boolean;
}): AnyObject {
  const reference = { apiVersion: "acme.io/v1", kind: "Thing", uid: "u", controller: true, ...owner };
  const ownerReferences = owner === undefined ? undefined : [reference];
  return {
    apiVersion: "v1",
    kind: "Part",
    metadata: { namespace: "ns", name: "p", ownerReferences },
  } as unknown as AnyObject;
}

describe("primaryHandler", () => {
  test("enqueues members, with low priority from the initial list", () => {
    const sink = new Collected();
    const handler = primaryHandler(sink, kindWatch(Thing));
    handler.onAdd(thing(), { isInInitialList: true });
    handler.onUpdate(thing({ resourceVersion: "2" }), thing({ resourceVersion: "1" }), {});
    expect(sink.keys).toEqual(["ns/a", "ns/a"]);
    expect(sink.priorities).toEqual([-100, undefined]);
  });

  test("HDL-06 enqueues an update without a change of the version with low priority", () => {
    const sink = new Collected();
    const [first, second] = [thing({ resourceVersion: "1" }), thing({ resourceVersion: "2" })];
    const owned = part({ name: "a" });
    const mapped = kindWatch(watch(Thing, { enqueue: (object) => [object] }));
    const handlers = [
      [primaryHandler(sink, kindWatch(Thing)), first, second],
      [
        ownedHandler(sink, kindWatch(Part), Thing),
        owned,
        { ...owned, metadata: { ...owned.metadata, resourceVersion: "2" } },
      ],
      [mappedHandler(sink, mapped), first, second],
    ] as const;
    for (const [handler, old, object] of handlers) {
      handler.onUpdate(old, old, {});
      handler.onUpdate(object, old, {});
    }
    expect(sink.priorities).toEqual([-100, undefined, -100, undefined, -100, undefined]);
  });

  test("drops echoes of the key's own run, but not of another, nor a change of the spec", () => {
    const sink = new Collected();
    const handler = primaryHandler(sink, kindWatch(Thing));
    handler.onUpdate(thing({ generation: 1 }), thing({ generation: 1 }), { origin: "thing:ns/a" });
    expect(sink.keys).toEqual([]);
    handler.onUpdate(thing({ generation: 1 }), thing({ generation: 1 }), { origin: "thing:ns/b" });
    handler.onUpdate(thing({ generation: 2 }), thing({ generation: 1 }), { origin: "thing:ns/a" });
    expect(sink.keys).toEqual(["ns/a", "ns/a"]);
  });

  test("takes what is first shown from outside as new, whatever `on` says of updates", () => {
    const first = { isFirstFromOutside: true };
    const on = changed.generation;
    const sink = new Collected();
    const [object, old] = [
      thing({ generation: 1, resourceVersion: "2" }),
      thing({ generation: 1, resourceVersion: "1" }),
    ];
    const child = { ...part({ name: "a" }), metadata: { ...part({ name: "a" }).metadata, resourceVersion: "2" } };
    const handlers = [
      [primaryHandler(sink, kindWatch(watch(Thing, { on }))), object, old],
      [ownedHandler(sink, kindWatch(watch(Part, { on })), Thing), child, part({ name: "a" })],
      [mappedHandler(sink, kindWatch(watch(Thing, { on, enqueue: (one) => [one] }))), object, old],
    ] as const;
    for (const [handler, now, before] of handlers) {
      handler.onUpdate(now, before, {});
      expect(sink.keys).toEqual([]);
      handler.onUpdate(now, before, first);
      handler.onUpdate(now, now, first);
      expect([sink.keys.splice(0), sink.priorities.splice(0)]).toEqual([
        ["ns/a", "ns/a"],
        [undefined, undefined],
      ]);
    }
  });

  test("takes what the key's own run wrote by hand as news for after that run, and at once for every other key", () => {
    const sink = new Collected();
    const handler = primaryHandler(sink, kindWatch(Thing));
    handler.onUpdate(thing({ generation: 1 }), thing({ generation: 1 }), { origin: "+thing:ns/a" });
    expect([sink.keys, sink.afterRun]).toEqual([[], ["ns/a"]]);
    handler.onUpdate(thing({ generation: 1 }), thing({ generation: 1 }), { origin: "+thing:ns/b" });
    expect([sink.keys, sink.afterRun]).toEqual([["ns/a"], ["ns/a"]]);
  });

  test("lets objects outside `match` through only while they carry our finalizer", () => {
    const sink = new Collected();
    const handler = primaryHandler(
      sink,
      kindWatch(watch(Thing, { match: (object) => object.metadata.labels?.["in"] === "yes" })),
    );
    handler.onAdd(thing(), LIVE);
    expect(sink.keys).toEqual([]);
    handler.onAdd(thing({ finalizers: ["acme.io/thing"] }), LIVE);
    handler.onAdd(thing({ labels: { in: "yes" } }), LIVE);
    expect(sink.keys).toEqual(["ns/a", "ns/a"]);
  });

  test("`on` filters members, sees one that begins to match as created, and never hides a deletion", () => {
    const sink = new Collected();
    const options = { match: (object: AnyObject) => object.metadata.labels?.["in"] === "yes", on: changed.generation };
    const handler = primaryHandler(sink, kindWatch(watch(Thing, options)));
    const member = { labels: { in: "yes" }, generation: 1 };
    handler.onUpdate(thing(member), thing(member), {});
    expect(sink.keys).toEqual([]);
    handler.onUpdate(thing(member), thing({ generation: 1 }), {});
    expect(sink.keys).toEqual(["ns/a"]);
    const deleting = { ...member, deletionTimestamp: "now", finalizers: ["acme.io/thing"] };
    handler.onUpdate(thing(deleting), thing(member), {});
    expect(sink.keys).toEqual(["ns/a", "ns/a"]);
  });

  test("ignores deleting objects without our finalizer, and forgets what is gone", () => {
    const sink = new Collected();
    const handler = primaryHandler(sink, kindWatch(Thing));
    handler.onUpdate(thing({ deletionTimestamp: "now", finalizers: ["other"] }), thing(), {});
    handler.onDelete(thing(), { stateUnknown: false });
    expect(sink.keys).toEqual([]);
    expect(sink.left).toEqual(["ns/a"]);
  });

  test("finalizes an object that leaves the selector with our finalizer", () => {
    const sink = new Collected();
    const handler = primaryHandler(sink, kindWatch(watch(Thing, { labels: "in=yes" })));
    handler.onDelete(thing(), { stateUnknown: false });
    expect(sink.keys).toEqual([]);
    handler.onDelete(thing({ finalizers: ["acme.io/thing"] }), { stateUnknown: false });
    expect(sink.keys).toEqual(["ns/a"]);
    expect(sink.parted).toEqual(["ns/a"]);
  });

  test("counts an event as handled when `match` throws", () => {
    const sink = new Collected();
    const handler = primaryHandler(
      sink,
      kindWatch(
        watch(Thing, {
          match: () => {
            throw new Error("bug");
          },
        }),
      ),
    );
    handler.onAdd(thing(), LIVE);
    expect(sink.errors).toHaveLength(1);
    expect(sink.keys).toEqual([]);
  });
});

describe("ownedHandler", () => {
  const handler = (sink: EventMappingHost, scope: Scope = "Namespaced") =>
    ownedHandler(sink, kindWatch(Part), handle({ apiVersion: "acme.io/v1", kind: "Thing", scope, plural: "things" }));

  test("HDL-01 enqueues the owners of both states of an update, each once", () => {
    const sink = new Collected();
    handler(sink).onUpdate(part({ name: "b" }), part({ name: "a" }), {});
    expect(sink.keys).toEqual(["ns/a", "ns/b"]);
    handler(sink).onUpdate(part({ name: "c" }), part({ name: "c" }), {});
    expect(sink.keys).toEqual(["ns/a", "ns/b", "ns/c"]);
  });

  test("HDL-02 knows the owner by group and kind, whatever the version", () => {
    const sink = new Collected();
    handler(sink).onAdd(part({ name: "a", apiVersion: "acme.io/v2beta1" }), LIVE);
    expect(sink.keys).toEqual(["ns/a"]);
    handler(sink).onAdd(part({ name: "a", kind: "Other" }), LIVE);
    handler(sink).onAdd(part({ name: "a", apiVersion: "other.io/v1" }), LIVE);
    handler(sink).onAdd(part({ name: "a", controller: false }), LIVE);
    handler(sink).onAdd(part(), LIVE);
    expect(sink.keys).toEqual(["ns/a"]);
  });

  test("HDL-04 enqueues a cluster-scoped owner without a namespace", () => {
    const sink = new Collected();
    handler(sink, "Cluster").onDelete(part({ name: "a" }), { stateUnknown: true });
    expect(sink.keys).toEqual(["a"]);
  });

  test("knows an owner of the same name with another UID", () => {
    const sink = new Collected();
    sink.objects.set("ns/a", thing({ uid: "new" }));
    handler(sink).onAdd(part({ name: "a", uid: "old" }), LIVE);
    expect(sink.keys).toEqual([]);
    handler(sink).onAdd(part({ name: "a", uid: "new" }), LIVE);
    expect(sink.keys).toEqual(["ns/a"]);
  });

  test("follows a child that lost its owner reference", () => {
    const sink = new Collected();
    handler(sink).onUpdate(part(), part({ name: "a" }), {});
    expect(sink.keys).toEqual(["ns/a"]);
  });
});

describe("mappedHandler", () => {
  test("HDL-05 asks for the old and the new state, and enqueues the union, each key once", () => {
    const sink = new Collected();
    const asked: string[] = [];
    const target = watch(Thing, {
      enqueue: (object) => {
        asked.push(object.metadata.resourceVersion);
        return [{ name: object.metadata.resourceVersion }, { name: "both", namespace: "ns" }];
      },
    });
    mappedHandler(sink, kindWatch(target)).onUpdate(
      thing({ resourceVersion: "2" }),
      thing({ resourceVersion: "1" }),
      {},
    );
    expect(asked).toEqual(["1", "2"]);
    expect(sink.keys).toEqual(["1", "ns/both", "2"]);
  });

  test("waits for an asynchronous answer, and takes objects as keys", async () => {
    const sink = new Collected();
    const target = watch(Thing, { enqueue: async (object) => [object] });
    mappedHandler(sink, kindWatch(target)).onAdd(thing(), LIVE);
    expect(sink.keys).toEqual([]);
    await sink.work;
    expect(sink.keys).toEqual(["ns/a"]);
  });
});

describe("mappedHandler with an enqueue that names no keys", () => {
  const tell = (enqueue: () => unknown): Collected => {
    const sink = new Collected();
    const handler = mappedHandler(sink, kindWatch(watch(Part, { enqueue: enqueue as () => readonly never[] })));
    handler.onAdd(thing(), LIVE);
    return sink;
  };

  test("reports it as a failure of the author's code, and goes on", () => {
    expect(String(tell(() => ["a"]).errors[0])).toContain(`Cannot enqueue "a": expected an object, or a key`);
    expect(String(tell(() => ({ name: "a" })).errors[0])).toContain("expected a list");
    expect(String(tell(() => [{ metadata: {} }]).errors[0])).toContain("Cannot enqueue");
    expect(tell(() => undefined)).toMatchObject({ errors: [], keys: [] });
  });
});
