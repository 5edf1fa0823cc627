import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { FakeClock } from "../testing/fake-clock.ts";
import { exponential } from "./rate-limiter.ts";
import { WorkQueue, type AddOptions } from "./work-queue.ts";

function setUp(options: { onReady?: () => void } = {}) {
  const clock = new FakeClock();
  const counts = { adds: 0, retries: 0, taken: [] as number[], worked: [] as number[] };
  const queue = new WorkQueue({
    name: "test",
    clock,
    limiter: exponential(5, 1_000_000),
    metrics: {
      added: () => void counts.adds++,
      retried: () => void counts.retries++,
      taken: (seconds) => void counts.taken.push(seconds),
      done: (seconds) => void counts.worked.push(seconds),
      readFrom: () => {},
    },
    ...options,
  });
  const depths = () => Object.fromEntries(queue.depths);
  const taken = () => queue.take()?.key;
  return { clock, counts, queue, depths, taken };
}

describe("WorkQueue", () => {
  test("PQ-01 gives an item back and counts it", () => {
    const { queue, depths, counts, taken } = setUp();
    queue.add("foo");
    expect(taken()).toBe("foo");
    expect(depths()).toEqual({ 0: 0 });
    expect([counts.adds, counts.retries]).toEqual([1, 0]);
  });

  test("PQ-02 gives items in order", () => {
    const { queue, counts, taken } = setUp();
    queue.add("foo");
    queue.add("bar");
    expect([taken(), taken(), taken()]).toEqual(["foo", "bar", undefined]);
    expect(counts.adds).toBe(2);
  });

  test("PQ-03 PQ-04 keeps back an item that is worked on, and gives it first once it is done", () => {
    const { queue, counts, taken } = setUp();
    queue.add("foo");
    queue.add("bar");
    taken();
    queue.add("foo");
    expect(queue.depth).toBe(2);
    expect(taken()).toBe("bar");
    expect(taken()).toBeUndefined();
    queue.add("baz");
    queue.done("foo");
    expect(taken()).toBe("foo");
    expect(queue.depth).toBe(1);
    expect(counts.adds).toBe(4);
  });

  test("PQ-05 WQ-01 has an item once", () => {
    const { queue, counts, depths } = setUp();
    queue.add("foo");
    queue.add("bar");
    queue.add("foo");
    expect(queue.depth).toBe(2);
    expect(depths()).toEqual({ 0: 2 });
    expect(counts.adds).toBe(2);
  });

  test("PQ-07 PQ-08 keeps the highest priority", () => {
    const { queue, depths, counts } = setUp();
    queue.add("foo", { priority: 1 });
    queue.add("foo", { priority: 2 });
    queue.add("foo", { priority: 1 });
    expect(queue.take()).toMatchObject({ key: "foo", priority: 2 });
    expect(queue.depth).toBe(0);
    expect(depths()).toEqual({ 1: 0, 2: 0 });
    expect(counts.adds).toBe(1);
  });

  test("PQ-10 puts an item that is raised at the end of its new priority", () => {
    const { queue, taken } = setUp();
    queue.add("foo");
    queue.add("bar", { priority: 1 });
    queue.add("foo", { priority: 1 });
    expect([taken(), taken()]).toEqual(["bar", "foo"]);
  });

  test("PQ-11 keeps the shortest delay", () => {
    const { queue, taken } = setUp();
    queue.add("foo", { after: 0 });
    queue.add("foo", { after: 3_600_000 });
    expect(taken()).toBe("foo");
  });

  test("PQ-13 gives a delayed item to who waits, when its time has come", async () => {
    const { queue, clock, counts } = setUp();
    let got: string | undefined;
    const getting = queue.get().then((item) => (got = item?.key));
    queue.add("foo", { after: 1000 });
    clock.advance(999);
    await Promise.resolve();
    expect(got).toBeUndefined();
    clock.advance(1);
    await getting;
    expect(got).toBe("foo");
    expect([counts.retries, counts.adds]).toEqual([1, 1]);
  });

  test("PQ-14 gives a waiting item at once when it is added without a delay", async () => {
    const { queue, clock, counts } = setUp();
    const getting = queue.get();
    queue.add("foo", { after: 60_000 });
    queue.add("foo");
    expect((await getting)?.key).toBe("foo");
    expect(counts.adds).toBe(1);
    queue.done("foo");
    clock.advance(60_000);
    expect(queue.take()).toBeUndefined();
    expect(clock.timers).toBe(0);
  });

  test("PQ-16 gives a high item that became ready before a low one", () => {
    const { queue, clock, depths, taken } = setUp();
    queue.add("low", { priority: -100 });
    queue.add("high", { after: 1000 });
    clock.advance(1000);
    expect(taken()).toBe("high");
    expect(depths()).toEqual({ "-100": 1, 0: 0 });
  });

  test.each([-1000, 0, 1000])("PQ-17 gives 5 × 1,000 items by priority, then in order, after %i ms", (after) => {
    const { queue, clock, counts } = setUp();
    const priorities = [10, 5, 0, -5, -10];
    for (let i = 0; i < 1000; i++)
      for (const priority of priorities) queue.add(`${priority}/${i}`, { priority, after });
    clock.advance(1000);
    expect(counts.retries).toBe(after > 0 ? 5000 : 0);
    const order = new Map<number, number[]>();
    for (let item = queue.take(); item !== undefined; item = queue.take()) {
      const [, number] = item.key.split("/");
      const of = order.get(item.priority) ?? [];
      of.push(Number(number));
      order.set(item.priority, of);
    }
    // Each 20th goes to the oldest below the highest, so a class does not end before the next begins; within it the order is kept.
    for (const priority of priorities) expect(order.get(priority)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect([...order.keys()].filter((priority) => priority !== -10)).toEqual([10, 5, 0, -5]);
  });

  test("low priorities are served while higher ones keep coming", () => {
    const { queue } = setUp();
    queue.add("low", { priority: -100 });
    const order: string[] = [];
    for (let i = 0; i < 40; i++) {
      queue.add(`high-${i}`);
      const { key } = queue.take()!;
      order.push(key);
      queue.done(key);
    }
    expect(order.indexOf("low")).toBeGreaterThan(5);
    expect(order).toContain("low");
  });

  test("no priority starves between a higher and a lower one that keep coming", () => {
    const { queue } = setUp();
    for (const key of ["low-a", "low-b"]) queue.add(key, { priority: -100 });
    queue.add("middle");
    const order: string[] = [];
    for (let i = 0; i < 100; i++) {
      queue.add(`high-${i}`, { priority: 10 });
      const { key } = queue.take()!;
      order.push(key);
      queue.done(key);
      if (key.startsWith("low")) queue.add(key, { priority: -100 });
    }
    expect(order).toContain("middle");
    expect(order.filter((key) => key.startsWith("high")).length).toBeGreaterThan(90);
  });

  test("PQ-19 counts an item at its new priority when it is added again without a delay", () => {
    const { queue, depths } = setUp();
    queue.add("foo", { after: 3_600_000 });
    expect(depths()).toEqual({});
    queue.add("foo", { priority: 1 });
    expect(depths()).toEqual({ 1: 1 });
    queue.take();
    expect(depths()).toEqual({ 1: 0 });
  });

  test("PQ-20 never gives an item twice, and has the highest priority of those added", () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant("add" as const),
        key: fc.constantFrom("a", "b", "c", "d"),
        priority: fc.integer({ min: -2, max: 2 }),
        after: fc.constantFrom(undefined, 0, 10, 50),
        rateLimited: fc.boolean(),
      }),
      fc.record({ do: fc.constant("take" as const) }),
      fc.record({ do: fc.constant("done" as const), which: fc.nat(3) }),
      fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 60 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { queue, clock } = setUp();
        const highest = new Map<string, number>();
        const running = new Set<string>();
        const take = () => {
          const item = queue.take();
          if (item === undefined) return false;
          expect(running.has(item.key)).toBe(false);
          expect(item.priority).toBe(highest.get(item.key)!);
          highest.delete(item.key);
          running.add(item.key);
          return true;
        };
        for (const one of steps) {
          if (one.do === "add") {
            queue.add(one.key, { priority: one.priority, after: one.after, rateLimited: one.rateLimited });
            highest.set(one.key, Math.max(highest.get(one.key) ?? -Infinity, one.priority));
          } else if (one.do === "take") take();
          else if (one.do === "done") {
            const key = [...running][one.which];
            if (key !== undefined) {
              running.delete(key);
              queue.done(key);
            }
          } else clock.advance(one.ms);
          for (const depth of queue.depths.values()) expect(depth).toBeGreaterThanOrEqual(0);
          expect(queue.depth).toBe([...queue.depths.values()].reduce((sum, depth) => sum + depth, 0));
          expect(queue.processing).toBe(running.size);
        }
        clock.advance(10_000_000);
        for (const key of running) {
          running.delete(key);
          queue.done(key);
        }
        while (take()) {}
        expect(highest.size).toBe(0);
        expect(queue.depth).toBe(0);
      }),
    );
  });

  test("WQ-02 gives an item that was added while it was worked on once more", () => {
    const { queue, taken } = setUp();
    queue.add("foo");
    taken();
    queue.add("foo");
    queue.add("foo");
    queue.done("foo");
    expect(taken()).toBe("foo");
    queue.done("foo");
    expect(taken()).toBeUndefined();
    expect(queue.depth).toBe(0);
  });

  test("WQ-04 drains only when every taken item is done", async () => {
    const { queue, taken } = setUp();
    queue.add("foo");
    queue.add("bar");
    taken();
    taken();
    let drained = false;
    const draining = queue.drain().then(() => (drained = true));
    queue.done("foo");
    await Promise.resolve();
    expect(drained).toBe(false);
    queue.done("bar");
    await draining;
  });

  test("WQ-05 ends a drain when it is stopped", async () => {
    const { queue, taken } = setUp();
    queue.add("foo");
    taken();
    const draining = queue.drain();
    queue.stop();
    await draining;
  });

  test("WQ-07 refuses items after drain, and gives those from before", async () => {
    const { queue, taken, clock } = setUp();
    queue.add("foo");
    queue.add("late", { after: 1000 });
    const draining = queue.drain();
    queue.add("bar");
    clock.advance(1000);
    expect(taken()).toBe("foo");
    queue.done("foo");
    await draining;
    expect(await queue.get()).toBeUndefined();
    expect(clock.timers).toBe(0);
  });

  test("stop drops what is queued and lets go who waits", async () => {
    const { queue, clock, depths } = setUp();
    const waiting = queue.get();
    queue.add("late", { after: 1000 });
    queue.stop();
    expect(await waiting).toBeUndefined();
    expect(clock.timers).toBe(0);
    queue.add("foo");
    expect(queue.take()).toBeUndefined();
    expect(Object.values(depths()).every((depth) => depth === 0)).toBe(true);
  });

  test("get gives up with its signal, and no item is lost", async () => {
    const { queue, taken } = setUp();
    const controller = new AbortController();
    const waiting = queue.get(controller.signal);
    controller.abort(new Error("enough"));
    expect(waiting).rejects.toThrow("enough");
    queue.add("foo");
    expect(taken()).toBe("foo");
  });

  test("get that gives up just after it was served takes nobody else's place", async () => {
    const { queue } = setUp();
    const controller = new AbortController();
    const served = queue.get(controller.signal);
    const other = queue.get();
    queue.add("foo");
    controller.abort(new Error("too late"));
    queue.add("bar");
    expect([(await served)?.key, (await other)?.key]).toEqual(["foo", "bar"]);
  });

  test.each([
    [50, 70, 50],
    [50, 30, 30],
  ])("WQ-08 gives an item delayed by %i and %i ms once, after %i", (first, second, expected) => {
    const { queue, clock, taken } = setUp();
    queue.add("foo", { after: first });
    queue.add("foo", { after: second });
    clock.advance(expected - 1);
    expect(taken()).toBeUndefined();
    clock.advance(1);
    expect(taken()).toBe("foo");
    queue.done("foo");
    clock.advance(1000);
    expect(taken()).toBeUndefined();
  });

  test("rateLimited doubles the delay, counts attempts, and forget starts over", () => {
    const { queue, clock } = setUp();
    const delays: number[] = [];
    const fail = (options: AddOptions = {}) => {
      queue.add("foo", { rateLimited: true, ...options });
      let waited = 0;
      let item = queue.take();
      while (item === undefined) {
        clock.advance(1);
        waited++;
        item = queue.take();
      }
      queue.done("foo");
      delays.push(waited);
      return item.attempt;
    };
    expect([fail(), fail(), fail()]).toEqual([2, 3, 4]);
    expect(delays).toEqual([5, 10, 20]);
    expect(fail({ after: 3 })).toBe(5);
    expect(delays.at(-1)).toBe(3);
    queue.forget("foo");
    expect(queue.failures("foo")).toBe(0);
    expect(fail()).toBe(2);
    expect(delays.at(-1)).toBe(5);
  });

  test("park keeps a key out until it is added, with a fresh back-off", () => {
    const { queue, clock, taken } = setUp();
    queue.add("foo", { rateLimited: true });
    clock.advance(5);
    taken();
    queue.park("foo", "terminal");
    queue.done("foo");
    expect(queue.parked.get("foo")).toEqual({ reason: "terminal", at: clock.now() });
    expect(queue.failures("foo")).toBe(1);
    queue.add("foo");
    expect(queue.parked.size).toBe(0);
    expect(queue.take()).toMatchObject({ key: "foo", attempt: 1 });
  });

  test("park does not keep out a key that was added while it was worked on", () => {
    const { queue, taken } = setUp();
    queue.add("foo");
    taken();
    queue.add("foo");
    expect(queue.park("foo", "terminal")).toBe(false);
    queue.done("foo");
    expect(queue.parked.size).toBe(0);
    expect(taken()).toBe("foo");
  });

  test("a key is failing from its first failure until it succeeds, is parked, or another process works it", () => {
    const { queue, clock } = setUp();
    const since = clock.now();
    queue.failed("a");
    clock.advance(60_000);
    for (const key of ["a", "b", "c", "d"]) queue.failed(key);
    expect([...queue.failing]).toEqual([
      ["a", since],
      ["b", since + 60_000],
      ["c", since + 60_000],
      ["d", since + 60_000],
    ]);
    queue.forget("a");
    queue.park("b", "terminal");
    expect([...queue.failing.keys()]).toEqual(["c", "d"]);
    queue.release((key) => key === "c");
    expect([[...queue.failing.keys()], [...queue.parked.keys()]]).toEqual([["d"], ["b"]]);
    queue.release();
    expect([queue.failing.size, queue.parked.size]).toEqual([0, 0]);
  });

  test("expedite makes retries ready, and leaves other delays alone", () => {
    const { queue, clock, taken } = setUp();
    queue.add("second", { rateLimited: true });
    clock.advance(5);
    queue.done(taken()!);
    queue.add("second", { rateLimited: true });
    queue.add("first", { rateLimited: true });
    queue.add("later", { after: 60_000 });
    queue.expedite();
    expect([taken(), taken(), taken()]).toEqual(["first", "second", undefined]);
    clock.advance(60_000);
    expect(taken()).toBe("later");
  });

  test("onReady is called for each item that can be taken, and not while its run goes on", () => {
    let ready = 0;
    const { queue, clock, taken } = setUp({ onReady: () => void ready++ });
    queue.add("foo");
    queue.add("foo");
    expect(ready).toBe(1);
    taken();
    queue.add("foo");
    expect(ready).toBe(1);
    queue.done("foo");
    expect(ready).toBe(2);
    queue.add("bar", { after: 10 });
    expect(ready).toBe(2);
    clock.advance(10);
    expect(ready).toBe(3);
  });

  test("causes are merged, at most 8, newest last", () => {
    const { queue } = setUp();
    for (let i = 0; i < 12; i++)
      queue.add("foo", { cause: { source: "owns", type: "update", key: { name: `c${i}` } } });
    queue.add("foo", { cause: { source: "for", type: "update", resourceVersion: "1" } });
    queue.add("foo", { cause: { source: "for", type: "update", resourceVersion: "2" } });
    const { causes } = queue.take()!;
    expect(causes).toHaveLength(8);
    expect(causes.at(-1)).toEqual({ source: "for", type: "update", resourceVersion: "2" });
    expect(causes[0]!.key).toEqual({ name: "c5" });
  });

  test("metrics see how long items wait and are worked on", () => {
    const { queue, clock, counts, taken } = setUp();
    queue.add("foo");
    clock.advance(250);
    taken();
    clock.advance(500);
    queue.done("foo");
    expect(counts.taken).toEqual([0.25]);
    expect(counts.worked).toEqual([0.5]);
  });
});

test("the machine's clock may be set: delays stay as long as they are", async () => {
  const real = Date.now;
  const queue = new WorkQueue({ name: "set back" });
  try {
    queue.add("a", { after: 20 });
    queue.add("b", { after: 3_600_000 });
    Date.now = () => real() - 7_200_000;
    queue.add("c", { after: 20 });
    await Bun.sleep(40);
    expect([queue.take()?.key, queue.take()?.key]).toEqual(["a", "c"]);
    Date.now = () => real() + 7_200_000;
    expect(queue.take()).toBeUndefined();
  } finally {
    Date.now = real;
    queue.stop();
  }
});

describe("pace", () => {
  const taken = (queue: WorkQueue): string | undefined => {
    const item = queue.take();
    if (item !== undefined) queue.done(item.key);
    return item?.key;
  };

  test("minInterval keeps the runs of a key apart, whatever asks for them, and other keys not", () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ name: "paced", clock, minInterval: 1_000 });
    queue.add("a");
    expect(taken(queue)).toBe("a");
    queue.add("a");
    queue.add("b");
    expect([taken(queue), taken(queue)]).toEqual(["b", undefined]);
    clock.advance(999);
    queue.add("a", { after: 1 });
    expect(taken(queue)).toBeUndefined();
    clock.advance(1);
    expect(taken(queue)).toBe("a");
    clock.advance(5_000);
    queue.add("a");
    expect(taken(queue)).toBe("a");
    queue.add("a", { after: 3_000 });
    clock.advance(2_999);
    expect(taken(queue)).toBeUndefined();
    clock.advance(1);
    expect(taken(queue)).toBe("a");
  });

  test("minInterval counts from the beginning of a run, also for what came during it", () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ name: "paced", clock, minInterval: 1_000 });
    queue.add("a");
    queue.take();
    queue.add("a");
    clock.advance(400);
    queue.done("a");
    expect(queue.take()).toBeUndefined();
    clock.advance(600);
    expect(taken(queue)).toBe("a");
  });

  test("debounce makes one run of a burst, and does not wait for ever", () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ name: "calm", clock, debounce: 100 });
    for (let change = 0; change < 5; change++) {
      queue.add("a");
      clock.advance(60);
      expect(queue.take()).toBeUndefined();
    }
    clock.advance(40);
    expect(taken(queue)).toBe("a");
    let runs = 0;
    for (let change = 0; change < 40; change++) {
      queue.add("a");
      clock.advance(50);
      if (taken(queue) !== undefined) runs++;
    }
    expect(runs).toBe(2);
  });

  test("debounce leaves delays of another kind alone, unless it is over before them", () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ name: "calm", clock, debounce: 100 });
    queue.add("a", { after: 50 });
    queue.add("a");
    clock.advance(50);
    expect(taken(queue)).toBe("a");
    queue.add("a", { after: 5_000 });
    queue.add("a");
    clock.advance(100);
    expect(taken(queue)).toBe("a");
    expect(clock.timers).toBe(0);
  });

  test("debounce never puts off a delay of another kind, however often the key changes, and whichever came first", () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ name: "calm", clock, debounce: 500 });
    queue.add("a", { after: 100 });
    for (let change = 0; change < 5; change++) queue.add("a");
    queue.add("b");
    queue.add("b", { after: 100 });
    for (let change = 0; change < 5; change++) queue.add("b");
    clock.advance(100);
    expect([taken(queue), taken(queue)]).toEqual(["a", "b"]);
    expect(clock.timers).toBe(0);
  });

  test("priorities that never come again are forgotten", () => {
    const { queue, depths, taken } = setUp();
    for (let priority = 0; priority < 1_000; priority++) {
      queue.add("a", { priority });
      taken();
      queue.done("a");
    }
    queue.add("b", { priority: 5 });
    queue.add("c", { priority: 7 });
    expect([taken(), taken()]).toEqual(["c", "b"]);
    expect(Object.keys(depths()).length).toBeLessThan(100);
  });

  test("with a least interval and a debounce nothing is lost, and no key runs too soon", () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant("add" as const),
        key: fc.constantFrom("a", "b", "c"),
        after: fc.constantFrom(undefined, 5, 40),
      }),
      fc.record({ do: fc.constant("take" as const) }),
      fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 40 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(50), fc.nat(50), (steps, minInterval, debounce) => {
        const clock = new FakeClock();
        const queue = new WorkQueue({ name: "paced", clock, minInterval, debounce });
        const wanted = new Set<string>();
        const began = new Map<string, number>();
        const take = (): boolean => {
          const item = queue.take();
          if (item === undefined) return false;
          expect(clock.now() - (began.get(item.key) ?? -Infinity)).toBeGreaterThanOrEqual(minInterval);
          began.set(item.key, clock.now());
          wanted.delete(item.key);
          queue.done(item.key);
          return true;
        };
        for (const one of steps) {
          if (one.do === "add") {
            queue.add(one.key, { after: one.after });
            wanted.add(one.key);
          } else if (one.do === "take") take();
          else clock.advance(one.ms);
        }
        clock.advance(10_000);
        while (take());
        expect([wanted.size, queue.depth, queue.delayed]).toEqual([0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});

test("WorkQueue shows each key once, with its state, its time and its attempt", () => {
  const { clock, queue, taken } = setUp();
  const began = clock.now();
  for (const key of ["running", "parked", "failing"]) queue.add(key);
  taken();
  taken();
  queue.park("parked", "TerminalError: no");
  queue.done("parked");
  taken();
  queue.add("failing", { rateLimited: true });
  queue.done("failing");
  queue.add("running");
  queue.add("delayed", { after: 60_000, priority: 7 });
  queue.add("waiting", { cause: { source: "for", type: "create" } });
  const states = Array.from(queue.keys(), ({ key, state, at, attempt }) => [key, state, at - began, attempt]);
  expect(states.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))).toEqual([
    ["delayed", "delayed", 60_000, 1],
    ["failing", "failing", 5, 2],
    ["parked", "parked", 0, 1],
    ["running", "running", 0, 1],
    ["waiting", "waiting", 0, 1],
  ]);
  expect([...queue.keys()].find(({ key }) => key === "parked")!.reason).toBe("TerminalError: no");
  expect(["waiting", "parked", "running", "other"].map((key) => queue.has(key))).toEqual([true, true, true, false]);
});
