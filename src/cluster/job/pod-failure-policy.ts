/**
 * Applies a Job's failure policy to a pod that failed.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
 */
import type {
  ContainerStatus,
  Pod,
  PodCondition,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
} from "../../resource/builtin/index.ts";

export interface Verdict {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  /** The reason why the Job fails, for `FailJob`. */
  readonly message: string;
}

/** Applies the first rule that matches; without one the failure counts. */
export function verdictOn(policy: PodFailurePolicy | undefined, pod: Pod): Verdict {
  for (const [index, { action, onExitCodes, onPodConditions }] of (policy?.rules ?? []).entries()) {
    const found = onExitCodes === undefined ? conditionIn(pod, onPodConditions ?? []) : containerIn(pod, onExitCodes);
    if (found !== undefined)
      return { action: action as Verdict["action"], message: `${found} matching ${action} rule at index ${index}` };
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
