/**
 * Decides when enough indexes of a Job have succeeded. @see
 * https://kubernetes.io/docs/concepts/workloads/controllers/job/#success-policy
 */
import type { SuccessPolicy } from "../../resource/builtin/index.ts";
import { Indexes } from "./indexes.ts";

/** Returns in words which rule is met; `undefined` when none is. */
export function metRule(
  policy: SuccessPolicy | undefined,
  succeeded: Indexes,
  completions: number,
): string | undefined {
  if (policy === undefined || succeeded.size === 0) return undefined;
  const met = policy.rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const required = Indexes.parse(succeededIndexes, completions);
    if (required.size === 0) return false;
    const there = required.overlap(succeeded);
    return there === required.size || (succeededCount !== undefined && there >= succeededCount);
  });
  return met < 0 ? undefined : `Matched rules at index ${met}`;
}
