import { describe, expect, test } from "bun:test";
import { conditionsAfter, type Round } from "./namespace-conditions.ts";

const done: Round = { remaining: new Map(), finalizers: new Map(), errors: [] };
const noon = "2026-01-01T12:00:00Z";
const later = "2026-01-01T12:05:00Z";

describe("conditionsAfter", () => {
  test("says that all went well, once", () => {
    const conditions = conditionsAfter([], done, noon)!;
    expect(conditions.map(({ status, reason }) => `${status} ${reason}`)).toEqual([
      "False ResourcesDiscovered",
      "False ParsedGroupVersions",
      "False ContentDeleted",
      "False ContentRemoved",
      "False ContentHasNoFinalizers",
    ]);
    expect(conditionsAfter(conditions, done, later)).toBeUndefined();
  });

  test("counts what remains, sorted, and keeps the time of what did not turn", () => {
    const before = conditionsAfter([], done, noon)!;
    const round = {
      remaining: new Map([
        ["secrets.", 1],
        ["deployments.apps", 2],
      ]),
      finalizers: new Map([["example.com/hold", 3]]),
      errors: [],
    };
    const [, , failure, content, finalizers] = conditionsAfter(before, round, later)!;
    expect(content).toMatchObject({
      status: "True",
      reason: "SomeResourcesRemain",
      message:
        "Some resources are remaining: deployments.apps has 2 resource instances, secrets. has 1 resource instances",
      lastTransitionTime: later,
    });
    expect(finalizers?.message).toBe(
      "Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances",
    );
    expect(failure?.lastTransitionTime).toBe(noon);
  });

  test("tells what could not be deleted", () => {
    const conditions = conditionsAfter([], { ...done, errors: ["b", "a"] }, noon)!;
    expect(conditions[2]?.message).toBe("Failed to delete all resource types, 2 remaining: a, b");
  });
});
