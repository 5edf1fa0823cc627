import { describe, expect, test } from "bun:test";
import { ApiError } from "../kube/errors/api-error.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ErrorBudget } from "./error-budget.ts";
import { HookFailed, type Outcome } from "./outcome.ts";

const DONE: Outcome = { kind: "done" };
const FAIL: Outcome = { kind: "fail", error: new TypeError("x is not a function") };

function setUp({ keys }: { readonly keys?: number } = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const budget = new ErrorBudget({
    clock,
    keys: () => keys,
    onReady: () => void told.push("ready"),
    onChange: ({ kind }) => void told.push(kind),
    onRecovery: () => void told.push("recovery"),
  });
  const run = (key: string, outcome: Outcome) => budget.ended({ key, outcome, message: String });
  /** Each of some keys fails or succeeds once. */
  const each = (count: number, outcome: Outcome, prefix = "ns/k") => {
    for (let index = 0; index < count; index++) run(`${prefix}${index}`, outcome);
  };
  /** One key after the other fails for a while, as its turn comes. */
  const failFor = (ms: number) => {
    for (const end = clock.now() + ms; clock.now() < end;) {
      clock.advance(1_000);
      if (budget.room > 0) run(`ns/k${Math.floor(clock.now() / 1_000) % 20}`, FAIL);
    }
  };
  return { clock, told, budget, run, each, failFor };
}

describe("ErrorBudget", () => {
  test("slows a controller whose runs all fail, suspends it a minute later, and resumes it when runs succeed", () => {
    const { clock, told, budget, run, each, failFor } = setUp();
    each(9, FAIL);
    expect([budget.state.kind, budget.room]).toEqual(["unlimited", Infinity]);
    run("ns/k9", FAIL);
    expect(budget.state).toEqual({
      kind: "slowed",
      message:
        "10 of the 10 keys that ran fail, ns/k9 with: TypeError: x is not a function; one run begins each second until runs succeed",
    });
    expect(budget.room).toBe(0);
    clock.advance(1_000);
    expect([budget.room, ...told]).toEqual([1, "slowed", "ready"]);
    failFor(58_000);
    expect(budget.state.kind).toBe("slowed");
    failFor(2_000);
    expect(budget.state.kind).toBe("suspended");
    const trials = told.length;
    failFor(600_000);
    // After 10, 30, 70 and 130 s, and then once a minute.
    expect(told.slice(trials).filter((what) => what === "ready")).toHaveLength(11);
    told.length = 0;
    clock.advance(60_000);
    each(1, DONE);
    expect([budget.state.kind, ...told]).toEqual(["slowed", "ready", "slowed", "recovery"]);
    told.length = 0;
    each(4, DONE);
    expect(told).toEqual([]);
    each(5, DONE);
    expect([budget.room, budget.state.kind, ...told]).toEqual([
      Infinity,
      "unlimited",
      "unlimited",
      "recovery",
      "ready",
    ]);
    clock.advance(600_000);
    expect(clock.timers).toBe(0);
  });

  test("is not used up by one key of many that always fails, nor by nine that fail beside two that do not", () => {
    const { clock, budget, run, each } = setUp({ keys: 30 });
    for (let attempt = 0; attempt < 500; attempt++) {
      run("ns/bad", FAIL);
      clock.advance(500);
    }
    expect(budget.state.kind).toBe("unlimited");
    run("ns/good", DONE);
    run("ns/better", DONE);
    for (let round = 0; round < 10; round++) each(8, FAIL);
    expect(budget.state.kind).toBe("unlimited");
    each(10, FAIL, "ns/other");
    expect(budget.state.kind).toBe("slowed");
  });

  test("is not used up by some keys that fail while many others have nothing to do", () => {
    const { clock, budget, each } = setUp({ keys: 1_000 });
    for (let attempt = 0; attempt < 30; attempt++) {
      each(40, FAIL);
      clock.advance(1_000);
    }
    expect(budget.state.kind).toBe("unlimited");
    each(500, FAIL);
    expect(budget.state.kind).toBe("slowed");
  });

  test("takes a key that fails for all there is, when there is no other", () => {
    const { budget, run } = setUp({ keys: 1 });
    for (let attempt = 0; attempt < 9; attempt++) run("ns/only", FAIL);
    expect(budget.state.kind).toBe("unlimited");
    run("ns/only", FAIL);
    expect(budget.state.kind).toBe("slowed");
    run("ns/only", DONE);
    expect(budget.state.kind).toBe("unlimited");
  });

  test("counts neither what the server refuses or cannot answer, nor what a run asks for", () => {
    const { budget, each } = setUp();
    const error = (code: number) =>
      new ApiError({ code, method: "GET", path: "/api/v1/pods", status: { message: "etcdserver: request timed out" } });
    const innocent: readonly Outcome[] = [
      { kind: "unreachable", error: new Error("connection refused") },
      { kind: "cancelled", error: new Error("leadership was lost") },
      { kind: "retry", after: 1, error: new Error("later") },
      { kind: "park", error: new Error("never") },
      ...[403, 409, 422, 429, 500, 503, 504].map((code): Outcome => ({ kind: "fail", error: error(code) })),
      { kind: "fail", error: new Error("cannot write", { cause: error(500) }) },
      { kind: "fail", error: new AggregateError([error(500), error(503)], "two children") },
      { kind: "fail", error: new HookFailed("a policy cannot be asked") },
    ];
    for (const outcome of innocent) each(100, outcome);
    expect(budget.state.kind).toBe("unlimited");
  });

  test("forgets failures that are older than its window", () => {
    const { clock, budget, each } = setUp();
    each(9, FAIL);
    clock.advance(300_000);
    each(9, FAIL, "ns/later");
    expect(budget.state.kind).toBe("unlimited");
    each(10, FAIL, "ns/later");
    expect(budget.state.kind).toBe("slowed");
  });

  test("is not exceeded while some runs succeed now and then", () => {
    const { clock, budget, run, each } = setUp();
    each(50, FAIL);
    for (let minute = 0; minute < 20; minute++) {
      each(10, FAIL);
      clock.advance(55_000);
      run("ns/good", DONE);
    }
    expect(budget.state.kind).toBe("slowed");
  });

  test("resume lifts every limit, and failures count anew", () => {
    const { clock, told, budget, each, failFor } = setUp();
    budget.resume();
    expect(told).toEqual([]);
    each(10, FAIL);
    failFor(70_000);
    expect(budget.state.kind).toBe("suspended");
    told.length = 0;
    budget.resume();
    expect([budget.room, ...told]).toEqual([Infinity, "unlimited", "recovery", "ready"]);
    each(9, FAIL);
    expect(budget.state.kind).toBe("unlimited");
    expect(clock.timers).toBe(0);
  });

  test("leaves no timer behind", () => {
    const { clock, budget, each } = setUp();
    each(10, FAIL);
    expect(clock.timers).toBe(1);
    budget[Symbol.dispose]();
    expect(clock.timers).toBe(0);
  });
});
