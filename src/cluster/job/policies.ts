/** The policies of a Job: which failures of pods count, and when enough indexes have succeeded. */
import type {
  ContainerStatus,
  Pod,
  PodCondition,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  SuccessPolicy,
} from "../../resource/builtin/index.ts";
import { Indexes } from "./indexes.ts";

/** What a failed pod means for its Job, by the Job's failure policy. */
export interface FailureAction {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  /** The reason why the Job fails, for `FailJob`. */
  readonly message: string;
}

/**
 * Applies the first rule that matches a failed pod; without one the failure counts.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
 */
export function failureAction(policy: PodFailurePolicy | undefined, pod: Pod): FailureAction {
  for (const [index, { action, onExitCodes, onPodConditions }] of (policy?.rules ?? []).entries()) {
    const match = onExitCodes === undefined ? conditionIn(pod, onPodConditions ?? []) : containerIn(pod, onExitCodes);
    if (match !== undefined)
      return {
        action: action as FailureAction["action"],
        message: `${match} matching ${action} rule at index ${index}`,
      };
  }
  return { action: "Count", message: "" };
}

function containerIn({ metadata, status }: Pod, rule: PodFailurePolicyOnExitCodesRequirement): string | undefined {
  const ended = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const match = ended.find((container) => matches(container, rule));
  if (match === undefined) return undefined;
  const { exitCode } = match.state?.terminated ?? {};
  return `Container ${match.name} for pod ${metadata.namespace}/${metadata.name} failed with exit code ${exitCode}`;
}

function matches(
  { name, state }: ContainerStatus,
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): boolean {
  const exitCode = state?.terminated?.exitCode ?? 0;
  if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false;
  return values.includes(exitCode) === (operator === "In");
}

function conditionIn(
  { metadata, status }: Pod,
  patterns: readonly PodFailurePolicyOnPodConditionsPattern[],
): string | undefined {
  const isMeant = ({ type, status: is }: PodCondition) =>
    patterns.some((pattern) => pattern.type === type && (pattern.status ?? "True") === is);
  const match = status?.conditions?.find(isMeant);
  return match && `Pod ${metadata.namespace}/${metadata.name} has condition ${match.type}`;
}

/**
 * Returns a description of the rule that is met; `undefined` when none is.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#success-policy
 */
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
