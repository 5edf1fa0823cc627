/** Parses the pod's resource limits from the command line. */
import { quantity } from "../../resource/quantity.ts";
import { UsageError } from "../usage-error.ts";
import type { DeployPlan } from "./deploy-plan.ts";

/** With less memory the process would be killed before its caches have synced. */
const LEAST_MEMORY = 96 * 2 ** 20;

/** @throws UsageError naming the flag whose value is not a quantity, or too small to run with. */
export function deployLimits(values: {
  readonly "memory-limit": string;
  readonly "cpu-limit": string;
}): DeployPlan["limits"] {
  const memory = limit(values["memory-limit"], { flag: "--memory-limit", such: "256Mi" });
  if (memory !== undefined && quantity(memory)! < LEAST_MEMORY) {
    throw new UsageError(`--memory-limit is '${memory}': the process needs at least ${LEAST_MEMORY / 2 ** 20}Mi`);
  }
  return { memory, cpu: limit(values["cpu-limit"], { flag: "--cpu-limit", such: "500m" }) };
}

function limit(value: string, { flag, such }: { readonly flag: string; readonly such: string }): string | undefined {
  if (value === "0") return undefined;
  if (quantity(value) !== undefined) return value;
  throw new UsageError(`${flag} is '${value}': expected a quantity such as ${such}, or 0 for no limit`);
}
