/** Serves `pods/eviction`, which deletes a pod when its disruption budget allows that. */
import { writeStatus } from "../registry/own-writes.ts";
import { ordered } from "../storage/stored.ts";
import { deepEquals } from "#platform/equality";
import type { Fields, KubeObject } from "../hooks.ts";
import { badRequest, conflict, forbidden, invalid, notFound, StatusError } from "../status.ts";
import { deleteObject } from "../verbs/delete.ts";
import { checkDeleteOptions, type DeleteOptions } from "../verbs/delete-options.ts";
import { timestamp } from "../timestamp.ts";
import type { ApiCall } from "../verbs/api-call.ts";
import type { Action, ActionOptions } from "./action.ts";
import { parseLabels } from "../request/label-selector.ts";

const pods = { group: "", plural: "pods" };

const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** The largest number of evicted pods whose deletion the budget's controller has not noticed yet. */
const mostDisrupted = 2000;

interface EvictionOptions extends DeleteOptions {
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export const eviction: Action = { alsoFrom: ["policy/v1beta1"], run: evict };

async function evict(call: ApiCall, posted: KubeObject, { admit }: ActionOptions): Promise<Fields> {
  const { kernel, target, query } = call;
  if (posted.metadata.name !== target.name) throw badRequest("name in URL does not match name in Eviction object");
  const { deleteOptions = {} } = posted as KubeObject & { deleteOptions?: EvictionOptions };
  if (deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential === true) throw cannotIgnore(target.name);
  const options = { ...deleteOptions, dryRun: combined(deleteOptions.dryRun ?? [], query.getAll("dryRun")) };
  await admit("deleteOptions" in posted && options.dryRun.length > 0 ? { ...posted, deleteOptions: options } : posted);
  const pod = kernel.reader.get(pods, target);
  if (pod === undefined) throw notFound(pods, target.name);
  const budget = isOver(pod) ? undefined : budgetOf(call, pod);
  if (budget !== undefined && mayGoUnready(budget, pod)) await removeUnready(call, { budget, pod, options });
  else {
    if (budget !== undefined) checkAllowed(budget);
    if (budget !== undefined && options.dryRun.length === 0) count(call, budget);
    await remove(call, options);
  }
  return success;
}

async function remove(call: ApiCall, options: EvictionOptions): Promise<void> {
  const isTried = (options.dryRun ?? []).length > 0;
  const effective = isTried ? options : withCondition(call, options);
  checkDeleteOptions(effective);
  await deleteObject(call, { name: call.target.name, options: effective, isAdmitted: true });
}

interface UnreadyPod {
  readonly budget: Budget;
  readonly pod: KubeObject;
  readonly options: EvictionOptions;
}

/** Deletes a pod that is not ready, unless it changed meanwhile: it may have become ready. */
async function removeUnready(call: ApiCall, { budget, pod, options }: UnreadyPod): Promise<void> {
  const { resourceVersion = "" } = pod.metadata;
  const exact = { ...options, preconditions: { ...options.preconditions, resourceVersion } };
  try {
    await remove(call, exact);
  } catch (error) {
    const isConflict = error instanceof StatusError && error.status.code === 409;
    if (isConflict && options.preconditions?.resourceVersion === undefined) throw notObserved(budget);
    throw error;
  }
}

function cannotIgnore(name: string): StatusError {
  const field = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential";
  const detail = "can not be set for pod eviction, try after removing the option";
  const error = { type: "Invalid", field, badValue: true, detail } as const;
  return invalid({ group: "policy", kind: "Eviction" }, name, { errors: [error] });
}

/** Combines the dry run options. @throws StatusError when body and query differ. */
function combined(body: readonly string[], query: readonly string[]): string[] {
  if (body.length === 0) return [...query];
  if (query.length > 0 && body.join(" ") !== query.join(" ")) {
    const what = `[${query.join(" ")}] and [${body.join(" ")}]`;
    throw new StatusError(500, "", { message: `Non-matching dry-run options in request and content: ${what}` });
  }
  return [...body];
}

/**
 * Records the reason of the deletion in the pod's status. Where the eviction requires a version, the deletion requires
 * the one that this write makes.
 */
function withCondition({ kernel, target }: ApiCall, options: DeleteOptions): DeleteOptions {
  const collection = kernel.storage.collection("/pods");
  const key = `${target.namespace}/${target.name}`;
  const pod = collection.get(key)?.object;
  if (pod === undefined) throw notFound(pods, target.name);
  const { uid, resourceVersion } = options.preconditions ?? {};
  checkPrecondition(pod, { what: "UID", expected: uid, end: "deleted and then recreated" });
  checkPrecondition(pod, { what: "ResourceVersion", expected: resourceVersion, end: "modified" });
  const status = (pod["status"] ?? {}) as Fields;
  const conditions = (status["conditions"] ?? []) as Fields[];
  const type = "DisruptionTarget";
  const before = conditions.find((condition) => condition["type"] === type);
  const isSame = before?.["status"] === "True";
  const condition = {
    type,
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: isSame ? before?.["lastTransitionTime"] : timestamp(kernel.now()),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const next =
    before === undefined
      ? [...conditions, condition]
      : conditions.map((other) => (other["type"] === type ? condition : other));
  const { lastProbeTime: _, ...kept } = before ?? {};
  const { lastProbeTime: __, ...wanted } = condition;
  // A pod whose status has the condition already is not written again.
  if (deepEquals(kept, wanted)) return options;
  const changed = { ...pod, metadata: { ...pod.metadata }, status: { ...status, conditions: next } };
  const { object } = kernel.storage.put(collection, key, ordered(changed));
  if (resourceVersion === undefined) return options;
  const preconditions = { ...options.preconditions, resourceVersion: object.metadata.resourceVersion ?? "" };
  return { ...options, preconditions };
}

interface Precondition {
  readonly what: "UID" | "ResourceVersion";
  readonly expected: string | undefined;
  readonly end: string;
}

function checkPrecondition({ metadata }: KubeObject, { what, expected, end }: Precondition): void {
  const actual = (what === "UID" ? metadata.uid : metadata.resourceVersion) ?? "";
  if (!expected || expected === actual) return;
  const why = `the ${what} in the precondition (${expected}) does not match the ${what} in record (${actual}). The object might have been ${end}`;
  throw conflict({ group: "", plural: "Pod" }, metadata.name ?? "", { why });
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Whether the pod has ended or is being deleted, so that its eviction disrupts nothing. */
function isOver({ metadata, status }: KubeObject & { status?: unknown }): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || metadata.deletionTimestamp !== undefined;
}

function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = (pod["status"] ?? {}) as { conditions?: Condition[] };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

interface Budget extends KubeObject {
  readonly spec?: {
    readonly unhealthyPodEvictionPolicy?: string;
    readonly selector?: { readonly matchLabels?: Record<string, string>; readonly matchExpressions?: Expression[] };
  };
  readonly status?: BudgetStatus;
}

interface BudgetStatus extends Fields {
  readonly disruptionsAllowed?: number;
  readonly observedGeneration?: number;
  readonly desiredHealthy?: number;
  readonly currentHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Returns the pod's budget. @throws StatusError when there are several. */
function budgetOf({ kernel, target }: ApiCall, pod: KubeObject): Budget | undefined {
  const name = { group: "policy", plural: "poddisruptionbudgets" };
  const all = kernel.reader.list(name, target.namespace) as Budget[];
  const [budget, ...others] = all.filter((one) => matches(one, pod));
  if (others.length === 0) return budget;
  const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  throw new StatusError(500, "", { message });
}

/** Whether a pod that is not ready may be evicted, because enough others are ready. */
function mayGoUnready({ spec = {}, status = {} }: Budget, pod: KubeObject): boolean {
  if (isReady(pod)) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec.unhealthyPodEvictionPolicy === "AlwaysAllow" || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** Checks the budget. @throws StatusError when the pod must stay. */
function checkAllowed(budget: Budget): void {
  const { metadata, status = {} } = budget;
  const { name = "", generation = 0 } = metadata;
  if ((status.observedGeneration ?? 0) < generation) throw notObserved(budget);
  if (Object.keys(status.disruptedPods ?? {}).length > mostDisrupted) {
    const why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden({ group: "policy", plural: "poddisruptionbudget" }, name, { why });
  }
  if ((status.disruptionsAllowed ?? 0) === 0) throw tooMany(`The disruption budget ${name} ${whyNone(status)}`);
}

function whyNone({ conditions = [], currentHealthy = 0, desiredHealthy = 0 }: BudgetStatus): string {
  const { reason = "", message = "" } =
    conditions.find(({ type, status }) => type === "DisruptionAllowed" && status === "False") ?? {};
  if (message !== "" && reason === "SyncFailed")
    return `does not allow evicting pods currently because it failed sync: ${message}`;
  if (currentHealthy <= desiredHealthy)
    return `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  return `does not allow evicting pods currently${message === "" ? "" : ` (${reason}): ${message}`}`;
}

function notObserved({ metadata }: Budget): StatusError {
  return tooMany(`The disruption budget ${metadata.name ?? ""} is still being processed by the server.`, 10);
}

function tooMany(message: string, seconds?: number): StatusError {
  return new StatusError(429, "TooManyRequests", {
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [{ reason: "DisruptionBudget", message }],
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    },
  });
}

/** Decrements the allowed disruptions, and records the pod as their reason. */
function count({ kernel, target }: ApiCall, budget: Budget): void {
  const { status = {} } = budget;
  const now = timestamp(kernel.now());
  const disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  const disruptedPods = { ...status.disruptedPods, [target.name]: now };
  const next: BudgetStatus = { ...status, disruptionsAllowed, disruptedPods };
  const counted = disruptionsAllowed === 0 ? { ...next, conditions: exhausted(status, now) } : next;
  writeStatus(kernel, { group: "policy", plural: "poddisruptionbudgets" }, { object: budget, status: counted });
}

function exhausted({ conditions = [], observedGeneration = 0 }: BudgetStatus, now: string): Condition[] {
  const type = "DisruptionAllowed";
  const before = conditions.find((condition) => condition.type === type) as (Condition & Fields) | undefined;
  const lastTransitionTime = before?.status === "False" ? before["lastTransitionTime"] : now;
  const own = observedGeneration === 0 ? {} : { observedGeneration };
  const condition = { type, status: "False", ...own, lastTransitionTime, reason: "InsufficientPods", message: "" };
  if (before === undefined) return [...conditions, condition];
  return conditions.map((other) => (other.type === type ? condition : other));
}

function matches({ spec }: Budget, pod: KubeObject): boolean {
  if (spec?.selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = spec.selector;
  const parts = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values = [] } of matchExpressions) {
    if (operator === "Exists") parts.push(key);
    else if (operator === "DoesNotExist") parts.push(`!${key}`);
    else parts.push(`${key} ${operator.toLowerCase()} (${values.join(",")})`);
  }
  return parseLabels(parts.join(","))(pod.metadata.labels);
}
