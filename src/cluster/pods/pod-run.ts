/** Checks a pod on its node: each container takes a step, and the status follows. */
import type { ContainerStatus, Pod } from "../../resource/builtin/index.ts";
import { parseDuration } from "../../resource/duration.ts";
import { timestamp } from "../workload/time.ts";
import { type ContainerStep, nextStep, stoppedStatus, waitingStatus } from "./container-run.ts";
import type { PodTimes } from "./pod-memory.ts";
import type { PodBehaviour } from "./pod-behaviour.ts";
import { conditionsOf, isInitialized, isSidecar, type KubeletStatus, phaseOf } from "./pod-status.ts";
import { type Script, scriptOf } from "./script.ts";

export interface PodContext {
  readonly pod: Pod;
  readonly behaviour: PodBehaviour | undefined;
  readonly times: PodTimes;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly hostIP: string;
  /** Allocates the address of a pod that has none yet. */
  readonly newPodIP: () => string;
}

export interface PodStep {
  readonly status: KubeletStatus;
  /** Milliseconds until the next look; `undefined` when nothing more happens by itself. */
  readonly again?: number | undefined;
}

/** Takes the next step of every container whose time has come. */
export function nextPodStep(context: PodContext): PodStep {
  const { pod, now } = context;
  const steps = containerSteps(context);
  const startTime = pod.status?.startTime ?? timestamp(now);
  const { activeDeadlineSeconds } = pod.spec;
  const deadline =
    activeDeadlineSeconds === undefined ? undefined : Date.parse(startTime) + activeDeadlineSeconds * 1000 - now;
  if (deadline !== undefined && deadline <= 0) {
    const message = "Pod was active on the node longer than the specified deadline";
    return { status: stoppedStatuses(context, { reason: "DeadlineExceeded", message, exitCode: 137 }) };
  }
  const statuses = { init: steps.init.map(({ status }) => status), main: steps.main.map(({ status }) => status) };
  const phase = phaseOf(pod, statuses);
  const isOver = phase === "Succeeded" || phase === "Failed";
  const waits = [...steps.init, ...steps.main].map(({ again }) => again);
  const known = [...waits, deadline].filter((wait) => wait !== undefined);
  const status = statusFrom(context, {
    startTime,
    phase,
    init: isOver ? statuses.init.map((one) => stoppedStatus(one, { exitCode: 0, now })) : statuses.init,
    main: statuses.main,
  });
  return { status, again: isOver || known.length === 0 ? undefined : Math.min(...known) };
}

/** The status of a pod whose containers were stopped from outside. */
export function stoppedPodStatus(context: PodContext): KubeletStatus {
  return stoppedStatuses(context, { exitCode: 0 });
}

/** Returns for how many milliseconds a deleted pod still runs. */
export function stopsAfter({ pod, behaviour }: Pick<PodContext, "pod" | "behaviour">): number {
  const times = pod.spec.containers.map((container) => {
    const restarts = statusOf(pod.status?.containerStatuses, container.name)?.restartCount ?? 0;
    return parseDuration(scriptOf({ pod, container, restarts, behaviour }).stopsAfter ?? 0, "stops-after");
  });
  return Math.min(Math.max(...times), (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000);
}

interface Steps {
  readonly init: readonly ContainerStep[];
  readonly main: readonly ContainerStep[];
}

function containerSteps({ pod, behaviour, times, now }: PodContext): Steps {
  const { initContainers = [], containers } = pod.spec;
  let ready = true;
  const init = initContainers.map((container): ContainerStep => {
    if (!ready) return { status: waitingStatus(container, "PodInitializing") };
    const was = statusOf(pod.status?.initContainerStatuses, container.name);
    const script = (restarts: number): Script => scriptOf({ pod, container, restarts, behaviour });
    const isInit = !isSidecar(container);
    const step = nextStep(begun(was), { pod, container, isInit, script, times, now });
    ready = isInitialized(container, step.status);
    return step;
  });
  const main = containers.map((container): ContainerStep => {
    const was = statusOf(pod.status?.containerStatuses, container.name);
    if (!ready && begun(was) === undefined) return { status: waitingStatus(container, "PodInitializing") };
    const script = (restarts: number): Script => scriptOf({ pod, container, restarts, behaviour });
    return nextStep(begun(was), { pod, container, isInit: false, script, times, now });
  });
  return { init, main };
}

/** Returns the status of a container that has run before; `undefined` for one that never did. */
function begun(was: ContainerStatus | undefined): ContainerStatus | undefined {
  return was?.state?.waiting !== undefined && was.lastState?.terminated === undefined ? undefined : was;
}

function stoppedStatuses(
  context: PodContext,
  why: { readonly exitCode: number; readonly reason?: string; readonly message?: string },
): KubeletStatus {
  const { pod, now } = context;
  const { exitCode, reason, message } = why;
  const stop = (one: ContainerStatus): ContainerStatus => stoppedStatus(one, { exitCode, now });
  const init = (pod.status?.initContainerStatuses ?? []).map(stop);
  const main = (pod.status?.containerStatuses ?? []).map(stop);
  const failed = exitCode !== 0 || main.some(({ state }) => (state?.terminated?.exitCode ?? 1) !== 0);
  const status = statusFrom(context, {
    startTime: pod.status?.startTime ?? timestamp(now),
    phase: failed ? "Failed" : "Succeeded",
    init,
    main,
  });
  return { ...status, reason, message };
}

interface ContainerOutcome {
  readonly startTime: string;
  readonly phase: string;
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
}

function statusFrom(
  { pod, now, hostIP, newPodIP }: PodContext,
  { startTime, phase, init, main }: ContainerOutcome,
): KubeletStatus {
  const podIP = pod.status?.podIP ?? (pod.spec.hostNetwork === true ? hostIP : newPodIP());
  return {
    phase,
    observedGeneration: pod.metadata.generation,
    conditions: conditionsOf({ pod, statuses: { init, main }, phase, now }),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime,
    initContainerStatuses: init.length === 0 ? undefined : init,
    ephemeralContainerStatuses: ephemeral({ pod, now }),
    containerStatuses: main,
  };
}

/**
 * Returns the statuses of the containers of `kubectl debug`, which start when they are requested and change nothing
 * else.
 */
function ephemeral({ pod, now }: Pick<PodContext, "pod" | "now">): readonly ContainerStatus[] | undefined {
  return pod.spec.ephemeralContainers?.map(({ name, image = "" }) => {
    const known = statusOf(pod.status?.ephemeralContainerStatuses, name);
    const state = { running: { startedAt: timestamp(now) } };
    return (
      known ?? { name, image, imageID: `binnacle://${image}`, state, ready: false, restartCount: 0, lastState: {} }
    );
  });
}

function statusOf(statuses: readonly ContainerStatus[] | undefined, container: string): ContainerStatus | undefined {
  return statuses?.find(({ name }) => name === container);
}
