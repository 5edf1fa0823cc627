/** The table columns of pods. */
import type { Fields, KubeObject } from "../../hooks.ts";
import { age } from "../age.ts";
import { at, type Cell, get, list, name, sinceCreation } from "../cell.ts";

interface Summary {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: string;
}

export const podCells: readonly Cell[] = [
  name,
  (pod) => {
    const { ready, total } = summary(pod);
    return `${ready}/${total}`;
  },
  (pod) => summary(pod).reason,
  (pod, now) => {
    const { restarts, lastRestart } = summary(pod);
    return restarts === 0 || lastRestart === "" ? `${restarts}` : `${restarts} (${age(lastRestart, now)} ago)`;
  },
  sinceCreation,
  (pod) => list(pod, "status.podIPs")[0]?.["ip"] ?? "<none>",
  at("spec.nodeName", "<none>"),
  at("status.nominatedNodeName", "<none>"),
  gates,
];

function gates(pod: KubeObject): string {
  const readinessGates = list(pod, "spec.readinessGates");
  if (readinessGates.length === 0) return "<none>";
  const isTrue = (type: unknown): boolean =>
    list(pod, "status.conditions").find((one) => one["type"] === type)?.["status"] === "True";
  return `${readinessGates.filter((gate) => isTrue(gate["conditionType"])).length}/${readinessGates.length}`;
}

function isSidecar(pod: KubeObject, container: unknown): boolean {
  return list(pod, "spec.initContainers").some((one) => one["name"] === container && one["restartPolicy"] === "Always");
}

function summary(pod: KubeObject): Summary {
  const status = (get(pod, "status") ?? {}) as Fields;
  const conditions = list(pod, "status.conditions");
  const sidecars = list(pod, "spec.initContainers").filter((one) => one["restartPolicy"] === "Always").length;
  const result: Summary = {
    ready: 0,
    total: list(pod, "spec.containers").length + sidecars,
    reason: String(status["reason"] || status["phase"] || ""),
    restarts: 0,
    lastRestart: "",
  };
  if (conditions.some((one) => one["type"] === "PodScheduled" && one["reason"] === "SchedulingGated")) {
    result.reason = "SchedulingGated";
  }
  const isInitializing = initializing(pod, result);
  const isInitialized = conditions.some((one) => one["type"] === "Initialized" && one["status"] === "True");
  if (!isInitializing || isInitialized) running(pod, result);
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status["reason"] === "NodeLost") result.reason = "Unknown";
    else if (status["phase"] !== "Failed" && status["phase"] !== "Succeeded") result.reason = "Terminating";
  }
  return result;
}

function restarted(container: Fields, result: Summary): void {
  result.restarts += Number(container["restartCount"] ?? 0);
  const finished = get(container, "lastState.terminated.finishedAt");
  if (typeof finished === "string" && finished > result.lastRestart) result.lastRestart = finished;
}

function initializing(pod: KubeObject, result: Summary): boolean {
  for (const [index, container] of list(pod, "status.initContainerStatuses").entries()) {
    restarted(container, result);
    const terminated = get(container, "state.terminated") as Fields | undefined;
    const waiting = String(get(container, "state.waiting.reason") ?? "");
    if (terminated?.["exitCode"] === 0) continue;
    if (isSidecar(pod, container["name"]) && container["started"] === true) {
      if (container["ready"] === true) result.ready += 1;
      continue;
    }
    if (terminated) result.reason = `Init:${ended(terminated)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") result.reason = `Init:${waiting}`;
    else result.reason = `Init:${index}/${list(pod, "spec.initContainers").length}`;
    return true;
  }
  return false;
}

function ended(terminated: Fields): string {
  if (terminated["reason"]) return String(terminated["reason"]);
  return terminated["signal"] ? `Signal:${String(terminated["signal"])}` : `ExitCode:${String(terminated["exitCode"])}`;
}

function running(pod: KubeObject, result: Summary): void {
  result.restarts = 0;
  result.lastRestart = "";
  for (const container of list(pod, "status.initContainerStatuses")) {
    if (isSidecar(pod, container["name"])) restarted(container, result);
  }
  let hasRunning = false;
  let failure = "";
  for (const container of list(pod, "status.containerStatuses").toReversed()) {
    restarted(container, result);
    const terminated = get(container, "state.terminated") as Fields | undefined;
    const waiting = get(container, "state.waiting.reason");
    if (waiting) result.reason = String(waiting);
    else if (terminated) {
      result.reason = ended(terminated);
      if (terminated["exitCode"] !== 0) failure = result.reason;
    } else if (container["ready"] === true && get(container, "state.running")) {
      hasRunning = true;
      result.ready += 1;
    }
  }
  if (result.reason !== "Completed") return;
  const isReady = list(pod, "status.conditions").some((one) => one["type"] === "Ready" && one["status"] === "True");
  if (hasRunning && isReady) result.reason = "Running";
  else if (failure !== "") result.reason = failure;
  else if (hasRunning) result.reason = "NotReady";
}
