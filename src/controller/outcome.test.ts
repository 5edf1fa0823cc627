import { describe, expect, test } from "bun:test";
import type { Result } from "../reconcile/context.ts";
import { outcomeOf, outcomeOfError } from "./outcome.ts";

describe("outcomeOf", () => {
  const message = (result: unknown): string => {
    const outcome = outcomeOf(result as Result);
    return outcome.kind === "fail" ? (outcome.error as Error).message : outcome.kind;
  };

  test("refuses what means nothing, and names it", () => {
    expect(message(null)).toContain("got null");
    expect(message(true)).toContain("got boolean");
    expect(message({ requeue: true })).toContain("unknown key 'requeue'");
    expect(message({ requeueAfter: Number.NaN })).toContain("Cannot use NaN as 'requeueAfter'");
    expect(message({ requeueAfter: "5 parsecs" })).toContain(`Cannot use "5 parsecs" as 'requeueAfter'`);
    expect(message({ requeueAfter: "1s", priority: "high" })).toContain(`Cannot use "high" as 'priority'`);
  });
});

describe("outcomeOfError", () => {
  const hostile = {
    "an object without a prototype": Object.create(null) as unknown,
    "an error whose message throws": Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw new Error("no");
      },
    }),
    "an error whose message is no text": Object.defineProperty(new Error("x"), "message", { value: Symbol("m") }),
    "a proxy that refuses": new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error("no");
        },
      },
    ),
  };
  for (const [what, thrown] of Object.entries(hostile)) {
    test(`makes an error that can be printed of ${what}`, () => {
      const outcome = outcomeOfError(thrown, false);
      if (outcome.kind !== "fail") throw new Error(outcome.kind);
      expect(String(outcome.error)).toBe("TypeError: Reconcile threw something that cannot be read");
    });
  }

  test("says what was thrown when that is nothing", () => {
    expect(outcomeOfError(undefined, false)).toMatchObject({ error: { message: "Reconcile threw undefined" } });
    expect(outcomeOfError(null, false)).toMatchObject({ error: { message: "Reconcile threw null" } });
  });

  test("leaves other values as they are", () => {
    expect(outcomeOfError("text", false)).toEqual({ kind: "fail", error: "text" });
  });
});
