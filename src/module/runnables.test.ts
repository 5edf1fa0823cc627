import { expect, test } from "bun:test";
import type { Leadership } from "../client/leadership.ts";
import { createLog } from "../observe/log.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { PluginSecrets } from "./plugin-secrets.ts";
import { Runnables } from "./runnables.ts";

const SHOP = { plugin: "shop", secrets: new PluginSecrets() };

/** A leadership that the test gives and takes away. */
class GivenLeadership implements Leadership {
  isLeader = false;
  readonly #listeners = new Set<(isLeader: boolean) => void>();

  get refused(): string | undefined {
    return this.isLeader ? undefined : "another replica leads";
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  give(isLeader: boolean): void {
    this.isLeader = isLeader;
    for (const listener of this.#listeners) listener(isLeader);
  }
}

function setUp() {
  const leadership = new GivenLeadership();
  const runnables = new Runnables({
    clock: new FakeClock(),
    log: createLog({ level: "error", format: "json", write: () => {} }),
    invoke: (call) => call(),
    onError: () => {},
    leadership,
  });
  const told: string[] = [];
  const untilAborted = (name: string) => async (context: { readonly signal: AbortSignal }) => {
    told.push(`${name} runs`);
    await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
    told.push(`${name} ends`);
  };
  return { leadership, runnables, told, untilAborted };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("Runnables run on the leader alone, end when the lead is lost, and run again in the next term", async () => {
  const { leadership, runnables, told, untilAborted } = setUp();
  runnables.add(SHOP, untilAborted("sweeper"), { leaderOnly: true });
  const leaving = new AbortController();
  runnables.start(leaving.signal, Promise.resolve());
  await turn();
  expect(told).toEqual([]);
  leadership.give(true);
  await turn();
  expect(told).toEqual(["sweeper runs"]);
  leadership.give(false);
  await turn();
  expect(told).toEqual(["sweeper runs", "sweeper ends"]);
  leadership.give(true);
  await turn();
  expect(told).toEqual(["sweeper runs", "sweeper ends", "sweeper runs"]);
  leaving.abort();
  await runnables.ended();
  expect(leadership.listeners).toBe(0);
});

test("Runnables run on every replica when they say so", async () => {
  const { runnables, told, untilAborted } = setUp();
  runnables.add(SHOP, untilAborted("cache"), { leaderOnly: false });
  const leaving = new AbortController();
  runnables.start(leaving.signal, Promise.resolve());
  await turn();
  expect(told).toEqual(["cache runs"]);
  leaving.abort();
  await runnables.ended();
});

test("MGR-01 Runnables of the leader wait for the caches of their module, and others do not", async () => {
  const { leadership, runnables, told, untilAborted } = setUp();
  runnables.add(SHOP, untilAborted("sweeper"));
  runnables.add(SHOP, untilAborted("listener"), { leaderOnly: false });
  const leaving = new AbortController();
  const warm = Promise.withResolvers<void>();
  runnables.start(leaving.signal, warm.promise);
  leadership.give(true);
  await turn();
  expect(told).toEqual(["listener runs"]);
  warm.resolve();
  await turn();
  expect(told).toEqual(["listener runs", "sweeper runs"]);
  leaving.abort();
  await runnables.ended();
});

test("Runnables whose caches never sync end with the module", async () => {
  const { leadership, runnables, told, untilAborted } = setUp();
  runnables.add(SHOP, untilAborted("sweeper"));
  const leaving = new AbortController();
  runnables.start(leaving.signal, new Promise(() => {}));
  leadership.give(true);
  leaving.abort();
  await runnables.ended();
  expect(told).toEqual([]);
});

test("Runnables that never led end with the module", async () => {
  const { leadership, runnables, told, untilAborted } = setUp();
  runnables.add(SHOP, untilAborted("sweeper"), { leaderOnly: true });
  const leaving = new AbortController();
  runnables.start(leaving.signal, Promise.resolve());
  leaving.abort();
  await runnables.ended();
  expect([told, leadership.listeners]).toEqual([[], 0]);
});

test("Runnables that have done what they had to do are not run again in another term", async () => {
  const { leadership, runnables } = setUp();
  let runs = 0;
  runnables.add(SHOP, async () => void runs++, { leaderOnly: true });
  const leaving = new AbortController();
  runnables.start(leaving.signal, Promise.resolve());
  for (const isLeader of [true, false, true]) {
    leadership.give(isLeader);
    await turn();
  }
  expect(runs).toBe(1);
  leaving.abort();
  await runnables.ended();
});
