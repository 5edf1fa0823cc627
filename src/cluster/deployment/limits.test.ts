import type { Deployment } from "../../resource/builtin/index.ts";
import { expect, test } from "bun:test";
import { limitsOf } from "./limits.ts";

function deployment(replicas: number, maxSurge: number | string, maxUnavailable: number | string): Deployment {
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
  return { spec: { replicas, strategy } } as unknown as Deployment;
}

test.each([
  [2, "0%", "1%", 0, 1],
  [1, "0%", "1%", 0, 1],
  [2, "1%", "25%", 1, 0],
  [1, "1%", "25%", 1, 0],
  [2, "1%", "0%", 1, 0],
  [10, "25%", "25%", 3, 2],
  [4, 2, 0, 2, 0],
  [1, 0, 3, 0, 1],
  [0, "25%", "25%", 0, 0],
])("limitsOf %p replicas with %p and %p", (replicas, surge, unavailable, maxSurge, maxUnavailable) => {
  expect(limitsOf(deployment(replicas, surge, unavailable))).toEqual({ maxSurge, maxUnavailable });
});

test("limitsOf Recreate are none", () => {
  expect(limitsOf({ spec: { replicas: 3, strategy: { type: "Recreate" } } } as unknown as Deployment)).toEqual({
    maxSurge: 0,
    maxUnavailable: 0,
  });
});
