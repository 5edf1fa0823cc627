/** Derives a pod's phase and conditions from the statuses of its containers, as the kubelet does. */
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from "../../resource/builtin/index.ts";
import { timestamp } from "../workload/time.ts";
import { mustRestart } from "./container-run.ts";

type Phase = "Pending" | "Running" | "Succeeded" | "Failed";

/** The statuses of a pod's containers after a look at them. */
export interface ContainerStatuses {
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
}

/** A sidecar is an init container that keeps running. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/** Whether an init container is done, or has started when it is a sidecar. */
export function isInitialized(container: Container, status: ContainerStatus | undefined): boolean {
  return (isSidecar(container) ? status?.started : status?.ready) === true;
}

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase */
export function phaseOf(pod: Pod, { init, main }: ContainerStatuses): Phase {
  for (const [index, container] of (pod.spec.initContainers ?? []).entries()) {
    const status = init[index];
    const code = (status?.state?.terminated ?? status?.lastState?.terminated)?.exitCode;
    const isOver = code !== undefined && !mustRestart({ pod, container, isInit: true }, code);
    if (!isSidecar(container) && code !== 0 && isOver) return "Failed";
  }
  if (!(pod.spec.initContainers ?? []).every((container, index) => isInitialized(container, init[index]))) {
    return "Pending";
  }
  let ended = 0;
  let failed = 0;
  for (const [index, container] of pod.spec.containers.entries()) {
    const { state, lastState } = main[index]!;
    if (state?.waiting !== undefined && lastState?.terminated === undefined) return "Pending";
    const exitCode = state?.terminated?.exitCode;
    if (exitCode === undefined || mustRestart({ pod, container, isInit: false }, exitCode)) continue;
    ended++;
    if (exitCode !== 0) failed++;
  }
  if (ended < main.length) return "Running";
  return failed > 0 ? "Failed" : "Succeeded";
}

export interface StatusContext {
  readonly pod: Pod;
  readonly statuses: ContainerStatuses;
  readonly phase: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type ConditionState = Pick<PodCondition, "type" | "status" | "reason" | "message">;

/** Computes the conditions that the kubelet maintains; a transition time changes only together with its status. */
export function conditionsOf(context: StatusContext): PodCondition[] {
  const { pod, now } = context;
  const present = pod.status?.conditions ?? [];
  const ready = containersReady(context);
  const states: ConditionState[] = [
    { type: "PodReadyToStartContainers", status: isOver(context) ? "False" : "True" },
    initialized(context),
    { ...(ready.status === "True" ? gates(pod, ready) : ready), type: "Ready" },
    ready,
  ];
  return states.map((condition) => {
    const before = present.find(({ type }) => type === condition.type);
    const changed = before?.status !== condition.status;
    const { generation } = pod.metadata;
    return {
      ...condition,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastTransitionTime: changed ? timestamp(now) : before.lastTransitionTime,
    };
  });
}

function initialized({ pod, statuses, phase }: StatusContext): ConditionState {
  const type = "Initialized";
  if (phase === "Succeeded") return { type, status: "True", reason: "PodCompleted" };
  const missing = (pod.spec.initContainers ?? []).filter((one, index) => !isInitialized(one, statuses.init[index]));
  const hasStarted = statuses.main.some(
    ({ state, lastState }) => (state?.running ?? lastState?.terminated) !== undefined,
  );
  if (missing.length === 0 || hasStarted) return { type, status: "True" };
  const message = `containers with incomplete status: [${names(missing)}]`;
  return { type, status: "False", reason: "ContainersNotInitialized", message };
}

function containersReady({ pod, statuses, phase }: StatusContext): ConditionState {
  const type = "ContainersReady";
  if (phase === "Succeeded") return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const sidecars = (pod.spec.initContainers ?? []).filter(
    (container, index) => isSidecar(container) && statuses.init[index]?.ready !== true,
  );
  const main = pod.spec.containers.filter((_, index) => statuses.main[index]?.ready !== true);
  const unready = [...sidecars, ...main];
  if (unready.length === 0) return { type, status: "True" };
  const message = `containers with unready status: [${names(unready)}]`;
  return { type, status: "False", reason: "ContainersNotReady", message };
}

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-readiness-gate */
function gates(pod: Pod, ready: ConditionState): ConditionState {
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (condition?.status === "True") return [];
    if (condition === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return ready;
  return { type: ready.type, status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") };
}

function isOver({ phase }: StatusContext): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function names(containers: readonly Container[]): string {
  return containers.map(({ name }) => name).join(" ");
}

/** The fields of a status that the kubelet decides. */
export type KubeletStatus = Pick<
  PodStatus,
  | "phase"
  | "reason"
  | "message"
  | "conditions"
  | "hostIP"
  | "hostIPs"
  | "podIP"
  | "podIPs"
  | "startTime"
  | "initContainerStatuses"
  | "containerStatuses"
  | "ephemeralContainerStatuses"
  | "observedGeneration"
>;
