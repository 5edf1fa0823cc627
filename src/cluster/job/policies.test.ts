import { describe, expect, test } from "bun:test";
import type { Pod, PodFailurePolicy, PodFailurePolicyRule } from "../../resource/builtin/index.ts";
import { Indexes } from "./indexes.ts";
import { failureAction } from "./policies.ts";
import { metRule } from "./policies.ts";

function failedPod(exitCode: number, conditions: readonly object[] = []): Pod {
  const containerStatuses = [{ name: "web", state: { terminated: { exitCode } } }];
  const metadata = { name: "work-1", namespace: "shop" };
  return { metadata, status: { phase: "Failed", containerStatuses, conditions } } as unknown as Pod;
}

function exits(action: string, operator: string, ...values: number[]): PodFailurePolicyRule {
  return { action, onExitCodes: { operator, values } };
}

describe("failureAction", () => {
  const disrupted: PodFailurePolicyRule = {
    action: "Ignore",
    onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
  };
  const policy: PodFailurePolicy = {
    rules: [disrupted, exits("FailJob", "In", 42), exits("FailIndex", "NotIn", 1, 42)],
  };

  test.each([
    ["no rule", failedPod(1), "Count"],
    ["a listed exit code", failedPod(42), "FailJob"],
    ["an exit code that is not listed", failedPod(3), "FailIndex"],
    ["the first rule that matches", failedPod(42, [{ type: "DisruptionTarget", status: "True" }]), "Ignore"],
    ["a condition that is not true", failedPod(1, [{ type: "DisruptionTarget", status: "False" }]), "Count"],
    ["a container that ended well", failedPod(0), "Count"],
  ])("%s", (_, pod, action) => {
    expect(failureAction(policy, pod).action).toBe(action as "Count");
  });

  test("says why the Job fails", () => {
    expect(failureAction(policy, failedPod(42)).message).toBe(
      "Container web for pod shop/work-1 failed with exit code 42 matching FailJob rule at index 1",
    );
  });

  test("without a policy every failure counts", () => {
    expect(failureAction(undefined, failedPod(42)).action).toBe("Count");
  });
});

describe("metRule", () => {
  test.each([
    ["all of the indexes", { succeededIndexes: "0,2" }, [0, 1, 2], true],
    ["not all of the indexes", { succeededIndexes: "0,2" }, [0, 1], false],
    ["enough of the indexes", { succeededIndexes: "0-3", succeededCount: 2 }, [1, 3, 4], true],
    ["enough of any", { succeededCount: 2 }, [3, 4], true],
    ["not enough of any", { succeededCount: 2 }, [4], false],
  ])("%s", (_, rule, succeeded, met) => {
    const expected = met ? "Matched rules at index 0" : undefined;
    expect(metRule({ rules: [rule] }, Indexes.of(succeeded), 5)).toBe(expected);
  });
});
