/** The life of one container, step by step: it waits, runs, becomes ready, ends, and is restarted. */
import type { Duration } from "../../index.ts";
import type { Container, ContainerState, ContainerStatus, Pod } from "../../resource/builtin/index.ts";
import { parseDuration } from "../../resource/duration.ts";
import { timestamp } from "../workload/time.ts";
import { MISTAKE } from "./mistake-event.ts";
import type { PodTimes } from "./pod-memory.ts";
import type { Script } from "./script.ts";

/** The context of one check of a container. */
export interface ContainerContext {
  readonly pod: Pod;
  readonly container: Container;
  /** Whether it is an init container and no sidecar; these run one after the other. */
  readonly isInit: boolean;
  /** Returns the script of the start with this number, counted from 0. */
  readonly script: (restarts: number) => Script;
  readonly times: PodTimes;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface OneStart extends Omit<ContainerContext, "script"> {
  readonly script: Script;
}

/** The state of a container after a look at it. */
export interface ContainerStep {
  readonly status: ContainerStatus;
  /** Milliseconds until the next step; `undefined` when nothing more happens by itself. */
  readonly again?: number | undefined;
}

const FIRST_BACKOFF = 10_000;
const LONGEST_BACKOFF = 300_000;

/** Takes the next step of a container if its time has come. */
export function nextStep(was: ContainerStatus | undefined, context: ContainerContext): ContainerStep {
  if (was?.state?.running !== undefined) return running(was, was.state, context);
  if (was?.state?.terminated !== undefined) return ended(was, was.state.terminated.finishedAt, context);
  if (was?.state?.waiting?.reason === "CrashLoopBackOff") {
    return ended(was, was.lastState?.terminated?.finishedAt, context);
  }
  return start(was, context, was?.restartCount ?? 0);
}

export function waitingStatus(container: Container, reason: string): ContainerStatus {
  return statusOf(container, { state: { waiting: { reason } }, ready: false, started: false, restartCount: 0 });
}

/** The status of a container that was stopped while it ran. */
export function stoppedStatus(was: ContainerStatus, stop: { exitCode: number; now: number }): ContainerStatus {
  const startedAt = was.state?.running?.startedAt ?? null;
  if (startedAt === null) return was;
  const { exitCode, now } = stop;
  const terminated = { exitCode, reason: reasonOf(exitCode), startedAt, finishedAt: timestamp(now) };
  return { ...was, state: { terminated }, ready: false, started: false };
}

function start(was: ContainerStatus | undefined, context: ContainerContext, restartCount: number): ContainerStep {
  const { container, times, now, isInit } = context;
  const script = context.script(restartCount);
  const lastState = was?.state?.terminated === undefined ? was?.lastState : { terminated: was.state.terminated };
  const fails = script.mistake === undefined ? script.fails : MISTAKE;
  if (fails !== undefined) {
    const message = script.mistake ?? `container ${container.name} cannot start`;
    const state = { waiting: { reason: fails, message } };
    return { status: statusOf(container, { state, lastState, ready: false, started: false, restartCount }) };
  }
  times.start(container.name, now);
  const state = { running: { startedAt: timestamp(now) } };
  const ready = isReadyAfter(0, script, context);
  const status = statusOf(container, { state, lastState, ready, started: !isInit, restartCount });
  // A container that has just begun is shown as running, however briefly it runs.
  return { status, again: nextChange(0, ready, { ...context, script }) };
}

function running(was: ContainerStatus, { running }: ContainerState, context: ContainerContext): ContainerStep {
  const { container, times, now } = context;
  const script = context.script(was.restartCount);
  if (script.mistake !== undefined) return { status: was };
  const elapsed = now - times.started(container.name, running?.startedAt);
  const endsAt = exitsAfter({ ...context, script });
  if (endsAt !== undefined && elapsed >= endsAt) return end(was, context);
  const ready = isReadyAfter(elapsed, script, context);
  const again = nextChange(elapsed, ready, { ...context, script });
  return { status: was.ready === ready ? was : { ...was, ready }, again };
}

function isReadyAfter(elapsed: number, script: Script, { isInit }: ContainerContext): boolean {
  const readyAt = isInit ? undefined : milliseconds(script.readyAfter, "ready-after");
  return readyAt !== undefined && elapsed >= readyAt;
}

/** Returns the milliseconds until a running container becomes ready or ends. */
function nextChange(elapsed: number, ready: boolean, context: OneStart): number | undefined {
  const readyAt = ready || context.isInit ? undefined : milliseconds(context.script.readyAfter, "ready-after");
  const waits = [exitsAfter(context), readyAt].filter((at) => at !== undefined);
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits) - elapsed);
}

function end(was: ContainerStatus, context: ContainerContext): ContainerStep {
  const { container, times, now, isInit } = context;
  const { exitCode = 0 } = context.script(was.restartCount);
  times.end(container.name, now);
  const status = { ...stoppedStatus(was, { exitCode, now }), ready: isInit && exitCode === 0 };
  return { status, again: mustRestart(context, exitCode) ? 0 : undefined };
}

/** Leaves a container that ended as it is, lets it wait for its back-off, or restarts it. */
function ended(was: ContainerStatus, finishedAt: string | null | undefined, context: ContainerContext): ContainerStep {
  const { pod, container, times, now } = context;
  const exitCode = (was.state?.terminated ?? was.lastState?.terminated)?.exitCode ?? 0;
  if (!mustRestart(context, exitCode)) return { status: was };
  const { name, namespace, uid } = pod.metadata;
  const { restartCount } = was;
  const { restartsAfter } = context.script(restartCount);
  const delay = restartsAfter === undefined ? backoff(restartCount) : parseDuration(restartsAfter, "restarts-after");
  const left = times.ended(container.name, finishedAt) + delay - now;
  if (left <= 0) return start(was, context, restartCount + 1);
  if (was.state?.waiting !== undefined) return { status: was, again: left };
  const message = `back-off ${go(delay)} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
  const state = { waiting: { reason: "CrashLoopBackOff", message } };
  return { status: { ...was, state, lastState: { terminated: was.state!.terminated! } }, again: left };
}

/** Whether a container that ended with this status is restarted. */
export function mustRestart({ pod, container, isInit }: RestartContext, exitCode: number): boolean {
  const policy = container.restartPolicy ?? pod.spec.restartPolicy ?? "Always";
  if (policy === "Always" && !isInit) return true;
  return policy !== "Never" && exitCode !== 0;
}

type RestartContext = Pick<ContainerContext, "pod" | "container" | "isInit">;

/** Like the kubelet, the first restart happens at once. */
function backoff(restarts: number): number {
  return restarts === 0 ? 0 : Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (restarts - 1));
}

function exitsAfter({ pod, container, script, isInit }: OneStart): number | undefined {
  const isOneOff = isInit || (pod.spec.restartPolicy !== "Always" && container.restartPolicy !== "Always");
  return milliseconds(script.exitsAfter ?? (isOneOff ? 0 : false), "exits-after");
}

function milliseconds(duration: Duration | false | undefined, what: string): number | undefined {
  return duration === false ? undefined : parseDuration(duration ?? 0, what);
}

function statusOf(container: Container, fields: Omit<ContainerStatus, "name" | "image" | "imageID">): ContainerStatus {
  const { name, image = "" } = container;
  const runs = fields.state?.waiting === undefined;
  const { lastState = {}, ...rest } = fields;
  return {
    name,
    image,
    imageID: runs ? `binnacle://${image}` : "",
    ...(runs ? { containerID: `binnacle://${name}-${fields.restartCount}` } : {}),
    lastState,
    ...rest,
  };
}

function reasonOf(exitCode: number): string {
  return exitCode === 0 ? "Completed" : "Error";
}

function go(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const seconds = `${(ms % 60_000) / 1000}s`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
