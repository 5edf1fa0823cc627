import { expect, test } from "bun:test";
import { type RunStarter, RunTurns } from "./run-turns.ts";

/** Begins so many runs, each of which takes its time. */
class Runs implements RunStarter {
  readonly #name: string;
  readonly #happened: string[];
  readonly #work: () => unknown;
  left: number;

  constructor(name: string, options: { left: number; happened: string[]; work?: () => unknown }) {
    this.#name = name;
    this.left = options.left;
    this.#happened = options.happened;
    this.#work = options.work ?? (() => {});
  }

  startRun(): boolean {
    if (this.left === 0) return false;
    this.left--;
    this.#happened.push(this.#name);
    this.#work();
    return true;
  }
}

/** Resolves after so many turns of the event loop; notes each of them. */
async function turns(count: number, happened: string[]): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    happened.push("|");
  }
}

test("RunTurns begins nothing before what is under way has ended, and lets each have its turn", async () => {
  const happened: string[] = [];
  const all = new RunTurns({ now: () => 0 });
  const [a, b] = [new Runs("a", { left: 3, happened }), new Runs("b", { left: 2, happened })];
  all.afterEvents(a);
  all.afterEvents(b);
  all.afterEvents(a);
  queueMicrotask(() => happened.push("event"));
  happened.push("event");
  await turns(1, happened);
  await turns(1, happened);
  expect(happened.join(" ")).toBe("event event a b a b a | |");
});

test("RunTurns gives way after 5 ms, and counts what a run does while it waits for nothing", async () => {
  const happened: string[] = [];
  let now = 0;
  const all = new RunTurns({ now: () => now });
  const work = async (): Promise<void> => {
    now++;
    await Promise.resolve();
    await Promise.resolve();
    now++;
  };
  const runs = new Runs("r", { left: 8, happened, work });
  all.afterEvents(runs);
  await turns(5, happened);
  expect(happened.join(" ")).toBe("r r r | r r r | r r | | |");
  const long = new Runs("l", { left: 3, happened, work: () => (now += 20) });
  all.afterEvents(long);
  happened.length = 0;
  await turns(4, happened);
  expect(happened.join(" ")).toBe("l | l | l | |");
});

test("RunTurns begins what a run that has ended asks for in the same turn", async () => {
  const happened: string[] = [];
  const all = new RunTurns({ now: () => 0 });
  const runs: RunStarter = {
    startRun: () => {
      happened.push("r");
      if (happened.length < 3) queueMicrotask(() => all.afterRun(runs));
      return false;
    },
  };
  all.afterEvents(runs);
  await turns(2, happened);
  expect(happened.join(" ")).toBe("r r r | |");
});

test("RunTurns begins what follows a run before the loop turns, after all that goes on at the same time", async () => {
  const happened: string[] = [];
  let now = 0;
  const all = new RunTurns({ now: () => now });
  const runs = new Runs("r", { left: 4, happened, work: () => (now += 3) });
  await Promise.resolve().then(() => {
    all.afterRun(runs);
    queueMicrotask(() => queueMicrotask(() => happened.push("goes on")));
  });
  await turns(3, happened);
  expect(happened.join(" ")).toBe("goes on r r | r r | |");
});

test("RunTurns goes on when beginning a run throws", async () => {
  const script = `
    import { RunTurns } from ${JSON.stringify(import.meta.resolve("./run-turns.ts"))};
    process.on("uncaughtException", ({ message }) => console.log("uncaught", message));
    const turns = new RunTurns();
    turns.afterEvents({ startRun() { throw new Error("no"); } });
    turns.afterEvents({ startRun() { console.log("begun"); return false; } });
    setTimeout(() => turns.afterEvents({ startRun() { console.log("later"); return false; } }), 5);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  expect((await new Response(child.stdout).text()).trim().split("\n")).toEqual(["uncaught no", "begun", "later"]);
});

test("RunTurns lets requests be answered between two long runs", async () => {
  const happened: string[] = [];
  let now = 0;
  const all = new RunTurns({ now: () => now });
  const done = Promise.withResolvers<void>();
  const work = (): void => {
    now += 400;
    // A response arrives some rounds of the event loop later.
    setTimeout(() => setImmediate(() => happened.push("answered")), 5);
    if (runs.left === 0) done.resolve();
  };
  const runs = new Runs("r", { left: 2, happened, work });
  all.afterEvents(runs);
  await done.promise;
  expect(happened.join(" ")).toBe("r answered r");
});

test("RunTurns begins nothing while a request that goes first is under way", async () => {
  const happened: string[] = [];
  const all = new RunTurns({ now: () => 0 });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  all.giveWay(first.promise);
  all.giveWay(second.promise);
  all.afterEvents(new Runs("r", { left: 2, happened }));
  await turns(2, happened);
  first.resolve();
  await turns(2, happened);
  second.reject(new Error("the server is gone"));
  await turns(2, happened);
  expect(happened.join(" ")).toMatch(/^\| \| \| \| [|r ]*r r/);
});

test("RunTurns begins runs although there is always a request that goes first", async () => {
  const all = new RunTurns();
  const begun = Promise.withResolvers<void>();
  const ask = (): void => all.giveWay(new Promise((resolve) => setTimeout(resolve, 50)));
  ask();
  const asking = setInterval(ask, 20);
  all.afterEvents({ startRun: () => (begun.resolve(), false) });
  try {
    await begun.promise;
  } finally {
    clearInterval(asking);
  }
});
