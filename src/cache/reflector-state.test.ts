import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ApiError, UnreachableError } from "../kube/errors/api-error.ts";
import { failureOf, next, START, type Failure, type ReflectorEvent, type ReflectorState } from "./reflector-state.ts";

const watching: ReflectorState = { kind: "watching", resourceVersion: "10", failures: 0, quickCloses: 0, gones: 0 };
const failed = (failure: Partial<Failure> & { kind: Failure["kind"] }, elapsed = 0): ReflectorEvent => ({
  type: "failed",
  failure: { message: "m", code: 500, retryAfter: undefined, ...failure } as Failure,
  resourceVersion: "15",
  elapsed,
});

describe("next", () => {
  test("lists, then watches from the list's version", () => {
    expect(next(START, { type: "listed", resourceVersion: "5" })).toMatchObject({
      kind: "watching",
      resourceVersion: "5",
    });
  });

  test.each([
    ["gone", { kind: "listing", reason: "gone" }],
    ["missing", { kind: "pausing", delay: 1000, exact: true, next: { kind: "listing" }, status: { kind: "waiting" } }],
    [
      "forbidden",
      { kind: "pausing", delay: 800, next: { kind: "watching", resourceVersion: "15" }, status: { code: 500 } },
    ],
    ["busy", { kind: "pausing", delay: 800, next: { kind: "watching", resourceVersion: "15" } }],
    ["unreachable", { kind: "disconnected", delay: 0, next: { kind: "watching", resourceVersion: "15" } }],
    ["other", { kind: "pausing", delay: 800, next: { kind: "listing", reason: "error" } }],
  ] as const)("after %s while it watches", (kind, expected) => {
    expect(next(watching, failed({ kind }))).toMatchObject(expected);
  });

  test("waits as long as the server asks", () => {
    expect(next(watching, failed({ kind: "busy", retryAfter: 7 }))).toMatchObject({ delay: 7000, exact: true });
  });

  test("waits no longer than a minute, whatever the server asks", () => {
    for (const retryAfter of [61, 1e9, Number.MAX_VALUE]) {
      expect(next(watching, failed({ kind: "busy", retryAfter }))).toMatchObject({ delay: 60_000, exact: true });
    }
  });

  test("credentials that are refused do not cost a list: the watch goes on when they are renewed", () => {
    const failure = failureOf(
      new ApiError({ method: "GET", path: "/api/v1/pods", watch: true, code: 401, status: {} }),
    );
    expect(next(watching, { type: "failed", failure, resourceVersion: "15", elapsed: 10 })).toMatchObject({
      kind: "pausing",
      next: { kind: "watching", resourceVersion: "15" },
      status: { kind: "unavailable", code: 401 },
    });
  });

  test.each([
    ["busy", [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]],
    ["missing", [1000, 1500, 2250, 3000, 3000]],
  ] as const)("the delays of %s", (kind, delays) => {
    let state: ReflectorState = START;
    const seen = delays.map(() => {
      state = next(state, failed({ kind }));
      const { delay } = state as { delay: number };
      state = next(state, { type: "resume" });
      return delay;
    });
    expect(seen).toEqual([...delays]);
  });

  test("two good minutes start the delays over", () => {
    const tired = { ...watching, failures: 5 } as ReflectorState;
    expect(next(tired, failed({ kind: "busy" }, 120_000))).toMatchObject({ delay: 800 });
    expect(next(tired, failed({ kind: "busy" }, 119_999))).toMatchObject({ delay: 25_600 });
  });

  test("a relist does not cut a wait short", () => {
    const pausing = next(watching, failed({ kind: "forbidden" }));
    const relisted = next(pausing, { type: "relist", reason: "needs" });
    expect(relisted).toMatchObject({ kind: "pausing", next: { kind: "listing", reason: "needs" } });
    expect(next(watching, { type: "relist", reason: "needs" })).toMatchObject({ kind: "listing", reason: "needs" });
  });

  test("never turns in a circle without waiting", () => {
    const event = fc.oneof(
      fc.constantFrom<Failure["kind"]>("gone", "missing", "forbidden", "busy", "other").map((kind) => failed({ kind })),
      fc.constant<ReflectorEvent>({ type: "closed", resourceVersion: "15", elapsed: 0 }),
    );
    fc.assert(
      fc.property(fc.array(event, { minLength: 12, maxLength: 40 }), (events) => {
        let state: ReflectorState = START;
        let steps = 0;
        for (const one of events) {
          if (state.kind === "listing" && one.type === "closed")
            state = next(state, { type: "listed", resourceVersion: "1" });
          state = next(state, one);
          if (state.kind === "pausing") {
            steps = 0;
            expect(state.delay).toBeGreaterThanOrEqual(800);
            state = next(state, { type: "resume" });
          } else expect(++steps).toBeLessThanOrEqual(6);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("is never stuck and never silently stale: whatever happened, good answers lead to a watch from where it was", () => {
    const kinds = ["gone", "missing", "forbidden", "busy", "unreachable", "other"] as const;
    const event = fc.oneof(
      fc.record({ kind: fc.constantFrom<Failure["kind"]>(...kinds), elapsed: fc.constantFrom(0, 5_000, 200_000) }),
      fc.constant("closed" as const),
      fc.constant("relist" as const),
      fc.constant("good" as const),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let state: ReflectorState = START;
        let version = 0; // of the stream, which never goes back
        /** Lists or watches until there is something to wait for. */
        const good = (): void => {
          if (state.kind === "pausing" || state.kind === "disconnected") state = next(state, { type: "resume" });
          if (state.kind === "listing") state = next(state, { type: "listed", resourceVersion: `${++version}` });
        };
        for (const one of events) {
          if (state.kind === "pausing" || state.kind === "disconnected") state = next(state, { type: "resume" });
          if (one === "good") good();
          else if (one === "relist") {
            state = next(state, { type: "relist", reason: "needs" });
            expect(state.kind).toBe("listing");
          } else if (one === "closed") {
            if (state.kind === "watching")
              state = next(state, { type: "closed", resourceVersion: `${++version}`, elapsed: 0 });
          } else {
            const isWatch: boolean = state.kind === "watching";
            const resourceVersion = isWatch ? `${++version}` : undefined;
            state = next(state, {
              ...failed({ kind: one.kind }),
              resourceVersion,
              elapsed: one.elapsed,
            } as ReflectorEvent);
            const after: ReflectorState = "next" in state ? (state as { next: ReflectorState }).next : state;
            // What a watch has shown is not asked for again, unless everything is.
            if (after.kind === "watching") expect(after.resourceVersion).toBe(`${version}`);
            if (one.kind === "gone" || one.kind === "missing" || one.kind === "other")
              expect(after.kind).toBe("listing");
          }
        }
        good();
        expect(state).toMatchObject({ kind: "watching", resourceVersion: `${version}` });
      }),
      { numRuns: 500 },
    );
  });
});

describe("failureOf", () => {
  const api = (code: number, status: object = {}) =>
    new ApiError({ method: "GET", path: "/api/v1/pods", status: { code, ...status } });

  test.each([
    ["gone", api(410)],
    ["gone", api(504, { message: "Too large resource version: 20, current: 10" })],
    ["gone", api(504, { details: { causes: [{ message: "Too large resource version" }] } })],
    ["gone", api(504, { details: { causes: [{ reason: "ResourceVersionTooLarge", message: "x" }] } })],
    ["missing", api(404)],
    ["forbidden", api(403)],
    ["busy", api(429)],
    ["busy", api(504)],
    ["forbidden", api(401)],
    ["other", api(400)],
    ["unreachable", new UnreachableError("https://x", { code: "ECONNREFUSED", message: "no" })],
    ["other", new Error("not JSON")],
  ] as const)("REFL-04 takes %s for %s", (kind, error) => {
    expect(failureOf(error).kind).toBe(kind);
  });
});
