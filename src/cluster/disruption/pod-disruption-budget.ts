/** Computes how many pods may be evicted now; an eviction reads this from the status of its budget. */
import { allow, type Client, defineController, type Definition, isConflict, watch } from "../../index.ts";
import { Pod, PodDisruptionBudget } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { sameJson } from "../../resource/json.ts";
import { labelSelector } from "../../resource/selector.ts";
import { isReady } from "../workload/pod-state.ts";
import { serverMessage } from "../workload/pod-control.ts";
import { portionOf } from "../workload/portion.ts";
import { timestamp } from "../workload/time.ts";
import { expectedPods, scaledKinds } from "./expected-pods.ts";

type Budget = PodDisruptionBudget;
type Status = NonNullable<Budget["status"]>;

/** After this time, a granted eviction that has deleted nothing does not count any more. */
const DELETION_MS = 120_000;

/** Keeps the status of budgets. @see https://kubernetes.io/docs/tasks/run-application/configure-pdb/ */
export function disruptionController(clock: Clock): Definition {
  return defineController({
    name: "disruption-controller",
    for: PodDisruptionBudget,
    watches: [watch(Pod, { enqueue: (pod, { client }) => budgetsOf(pod, client) })],
    reads: scaledKinds,
    uses: [allow(PodDisruptionBudget, "status/update"), ...scaledKinds.map((kind) => allow(kind, "scale/get"))],
    async reconcile(budget, { client, events, log }) {
      const { namespace } = budget.metadata;
      const pods = (await client.list(Pod, { namespace })).filter((pod) => selects(budget, pod));
      if (pods.length === 0) events.normal("NoPods", "No matching pods found");
      const now = clock.now();
      try {
        const { expected, desired, unmanaged } = await wanted(client, budget, pods);
        if (unmanaged.length > 0) events.warning("UnmanagedPods", unmanagedMessage(budget));
        const { disrupted, nextCheck } = stillDisrupted(budget, pods, now);
        const healthy = pods.filter(
          (pod) => isReady(pod) && !isGoing(pod) && disrupted[pod.metadata.name] === undefined,
        );
        const allowed = expected <= 0 ? 0 : Math.max(0, healthy.length - desired);
        const is = allowed > 0 ? "Sufficient" : "Insufficient";
        await write(client, budget, {
          counts: { currentHealthy: healthy.length, desiredHealthy: desired, expectedPods: expected },
          allowed,
          disrupted,
          condition: { status: allowed > 0 ? "True" : "False", reason: `${is}Pods`, message: "" },
          now,
        });
        return nextCheck === undefined ? undefined : { requeueAfter: nextCheck };
      } catch (error) {
        if (isConflict(error)) return undefined; // an eviction was faster, and its event arrives soon
        const message = serverMessage(error);
        events.warning(
          "CalculateExpectedPodCountFailed",
          `Failed to calculate the number of expected pods: ${message}`,
        );
        log.debug("a budget allows nothing until it can be calculated", { reason: message });
        const condition = { status: "False", reason: "SyncFailed", message } as const;
        await write(client, budget, { allowed: 0, condition, now });
        return undefined;
      }
    },
  });
}

async function budgetsOf(pod: Pod, client: Pick<Client, "list">): Promise<readonly Budget[]> {
  const budgets = await client.list(PodDisruptionBudget, { namespace: pod.metadata.namespace });
  return budgets.filter((budget) => selects(budget, pod));
}

/** An empty selector selects all pods; a missing one selects none. */
function selects({ spec }: Budget, { metadata }: Pod): boolean {
  const selector = spec?.selector;
  if (selector === undefined) return false;
  return labelSelector(selector).matches(metadata.labels);
}

function isGoing({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

interface Wanted {
  readonly expected: number;
  readonly desired: number;
  readonly unmanaged: readonly string[];
}

async function wanted(client: Client, { spec }: Budget, pods: readonly Pod[]): Promise<Wanted> {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable === "number")
    return { expected: pods.length, desired: minAvailable, unmanaged: [] };
  if (maxUnavailable === undefined && minAvailable === undefined) return { expected: 0, desired: 0, unmanaged: [] };
  const { pods: expected, unmanaged } = await expectedPods(client, pods);
  if (maxUnavailable === undefined)
    return { expected, desired: portionOf(minAvailable, expected, Math.ceil), unmanaged };
  return { expected, desired: Math.max(0, expected - portionOf(maxUnavailable, expected, Math.ceil)), unmanaged };
}

interface Disrupted {
  /** The times at which evictions were granted, by the pod's name. */
  readonly disrupted: Readonly<Record<string, string>>;
  /** Milliseconds until the next of them stops counting. */
  readonly nextCheck: number | undefined;
}

function stillDisrupted({ status }: Budget, pods: readonly Pod[], now: number): Disrupted {
  const disrupted: Record<string, string> = {};
  let nextCheck: number | undefined;
  for (const pod of pods) {
    const { name } = pod.metadata;
    const evictions = status?.disruptedPods ?? {};
    const since = Object.hasOwn(evictions, name) ? evictions[name] : undefined;
    if (since === undefined || isGoing(pod)) continue;
    const left = Date.parse(since) + DELETION_MS - now;
    if (left < 0) continue;
    disrupted[name] = since;
    nextCheck = Math.min(nextCheck ?? left, left);
  }
  return { disrupted, nextCheck };
}

interface BudgetState {
  readonly counts?: Pick<Status, "currentHealthy" | "desiredHealthy" | "expectedPods">;
  readonly allowed: number;
  readonly disrupted?: Readonly<Record<string, string>>;
  readonly condition: { readonly status: "True" | "False"; readonly reason: string; readonly message: string };
  /** The current time in milliseconds. */
  readonly now: number;
}

/** Writes with the version that was read, because the count of a concurrent eviction must not be lost. */
async function write(client: Client, budget: Budget, state: BudgetState): Promise<void> {
  const { name, namespace, generation } = budget.metadata;
  const { counts, allowed, disrupted, condition, now } = state;
  const [old] = budget.status?.conditions ?? [];
  const isSame = old?.status === condition.status;
  const next = {
    type: "DisruptionAllowed",
    ...condition,
    observedGeneration: generation,
    lastTransitionTime: isSame ? old.lastTransitionTime : timestamp(now),
  };
  const { disruptedPods: _before, ...before } = budget.status ?? {};
  const evictions = disrupted ?? budget.status?.disruptedPods ?? {};
  const status = {
    ...before,
    ...counts,
    disruptionsAllowed: allowed,
    ...(Object.keys(evictions).length > 0 && { disruptedPods: evictions }),
    observedGeneration: generation,
    conditions: [next],
  };
  if (sameJson(status, budget.status)) return;
  await client.subresource("status").update(PodDisruptionBudget, { namespace, name }, { ...budget, status });
}

/** Formats a selector as Go prints it. */
function unmanagedMessage({ spec }: Budget): string {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {};
  const labels = Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],}`,
  );
  const selector =
    `&LabelSelector{MatchLabels:map[string]string{${labels.map(([name, value]) => `${name}: ${value},`).join("")}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.map((one) => `${one},`).join("")}},}`;
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}
