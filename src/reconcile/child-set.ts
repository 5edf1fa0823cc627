/** `children.sync`: brings the children of an object in the cluster to the desired set. */
import { messageOf } from "../platform/error-message.ts";
import { ownField, setField } from "../resource/any-key.ts";
import type { AnyObject } from "../resource/handle.ts";
import { applyChild, isDue, knownChild, noteChild } from "./child-application.ts";
import { checkSet, type DesiredSet, objectsOf, PlannedChild } from "./child-plan.ts";
import { prune, removeTracked, surplusOf } from "./child-pruning.ts";
import type { SkippedChild, SyncOptions } from "./context.ts";
import { AlreadyOwned, NotOwned, WaitingForChildren } from "./errors.ts";
import { dryRunOf, type ObjectRunState } from "./run.ts";

export class ChildSet {
  readonly #run: ObjectRunState;
  #synced = false;
  /** The children of a completed sync. */
  #children: readonly PlannedChild[] | undefined;

  constructor(run: ObjectRunState) {
    this.#run = run;
  }

  async sync(desired: DesiredSet, options: SyncOptions<string> = {}): Promise<unknown> {
    const isDry = options.dryRun === true;
    this.#admit(isDry);
    checkSet(desired, options);
    const run = isDry ? dryRunOf(this.#run) : this.#run;
    const children: PlannedChild[] = [];
    const ids = new Set<string>();
    for (const name of Object.keys(desired)) {
      for (const object of objectsOf(name, desired[name])) {
        const child = new PlannedChild(run, name, object);
        if (ids.has(child.id)) throw new TypeError(`Cannot sync children: ${child.what} is in the set twice`);
        ids.add(child.id);
        run.keep(child.kind.resource, child.content); // also if the child is up to date and not written
        children.push(child);
      }
    }
    const surplus = surplusOf(run, ids, options);
    if (children.length === 0 && surplus.prune.length > 0 && surplus.kept === 0 && options.allowEmpty !== true) {
      throw new TypeError(
        `Cannot sync children: the set is empty and would delete ${surplus.prune.map(({ object }) => `${object.kind} ${object.metadata.name}`).join(", ")}; ` +
          "pass `{ allowEmpty: true }` when that is meant",
      );
    }
    // Everything is checked before the first write.
    for (const child of children) {
      child.adopt = adopts(options, child.name);
      child.skippable = options.onForeign === "skip";
      try {
        const known = knownChild(run, child);
        child.live = known instanceof Promise ? await known : known;
      } catch (error) {
        skip(run, child, error);
      }
    }
    let complete = true;
    if (options.after === undefined) await applyAll(run, children);
    else complete = await applyInOrder(run, Object.keys(desired), { children, after: options.after });
    const isSurplus = surplus.prune.length > 0 || surplus.release.length > 0;
    if (complete && isSurplus) await prune(run, surplus, options.after);
    if (!isDry) this.#children = children;
    return resultOf(desired, children);
  }

  /** Whether `sync` has completed, even if some children wait for others. */
  get hasSynced(): boolean {
    return this.#children !== undefined;
  }

  get skipped(): readonly SkippedChild[] {
    return (this.#children ?? []).flatMap(({ name, kind, identity, skipped }) =>
      skipped === undefined
        ? []
        : [{ name, kind: kind.resource.kind, key: identity, reason: skipped.name, message: skipped.message }],
    );
  }

  /** Deletes the children that are tracked by a label, which no garbage collector finds. */
  async removeTracked(): Promise<void> {
    await removeTracked(this.#run);
  }

  #admit(isDry: boolean): void {
    const { deleting, environment } = this.#run;
    if (deleting) throw new TypeError("Cannot sync children: the object is being deleted");
    if (this.#synced) {
      throw new TypeError(
        "Cannot sync children twice in one run: a set is complete, so a second one would prune the first",
      );
    }
    if (environment.owned.length === 0) throw new TypeError("Cannot sync children: the controller declares no `owns`");
    this.#synced = !isDry;
  }
}

interface Waves {
  readonly children: readonly PlannedChild[];
  readonly after: Order;
}

/** Applies the children that wait for no other. @returns false when some are waiting. */
async function applyInOrder(
  run: ObjectRunState,
  names: readonly string[],
  { children, after }: Waves,
): Promise<boolean> {
  const open = new Set(names);
  const byName = Map.groupBy(children, ({ name }) => name);
  const isMissing = (name: string): boolean =>
    byName.get(name)?.some(({ live, skipped }) => live === undefined || skipped !== undefined || !isReady(live)) ===
    true;
  const earlierThan = (name: string): readonly string[] => ownField(after, name) ?? [];
  let waiting = false;
  while (open.size > 0) {
    const ready = [...open].filter((name) => !earlierThan(name).some((earlier) => open.has(earlier)));
    if (ready.length === 0) throw new TypeError(`Cannot sync children: ${[...open].join(", ")} wait for each other`);
    const wave: PlannedChild[] = [];
    for (const name of ready) {
      open.delete(name);
      if (earlierThan(name).some(isMissing)) waiting = true;
      else wave.push(...(byName.get(name) ?? []));
    }
    await applyAll(run, wave);
  }
  return !waiting;
}

/** Applies several children in parallel; a child that is up to date needs no request. */
function applyAll(run: ObjectRunState, children: readonly PlannedChild[]): Promise<void> | undefined {
  const due = children.filter((child) => {
    if (child.skipped !== undefined) return false;
    const differs = isDue(run, child);
    if (!differs) noteChild(run, child, { action: "unchanged" });
    return differs;
  });
  if (due.length === 0) return undefined;
  return due.length === 1 ? applyOne(run, due[0]!) : applySeveral(run, due);
}

/** Skips a child whose name is taken, if the options allow that. @throws the error otherwise. */
function skip(run: ObjectRunState, child: PlannedChild, error: unknown): void {
  const isSkipped = child.skippable && (error instanceof NotOwned || error instanceof AlreadyOwned);
  noteChild(run, child, { action: isSkipped ? "skipped" : "failed", error: messageOf(error) });
  if (!isSkipped) throw error;
  child.skipped = error;
}

function applyOne(run: ObjectRunState, child: PlannedChild): Promise<void> {
  const applied = applyChild(run, child);
  const isWatched = child.skippable || run.record !== undefined;
  return isWatched ? applied.catch((error: unknown) => skip(run, child, error)) : applied;
}

async function applySeveral(run: ObjectRunState, children: readonly PlannedChild[]): Promise<void> {
  const results = await Promise.allSettled(children.map((child) => applyOne(run, child)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

type Order = NonNullable<SyncOptions<string>["after"]>;

/** The live objects under the names of the set. */
function resultOf(desired: DesiredSet, children: readonly PlannedChild[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(desired)) setField(result, name, Array.isArray(desired[name]) ? [] : undefined);
  for (const { name, live, what, skipped } of children) {
    if (skipped !== undefined) continue;
    if (live === undefined) throw new WaitingForChildren(`${what} waits for the children before it`);
    const several = result[name];
    if (Array.isArray(several)) several.push(live);
    else setField(result, name, live);
  }
  return result;
}

function adopts(options: SyncOptions<string>, name: string): boolean {
  const { adopt } = options;
  return typeof adopt === "boolean" ? adopt : adopt?.includes(name) === true;
}

interface Workload {
  readonly spec?: { readonly replicas?: number; readonly completions?: number };
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly { type: string; status: string }[];
  };
}

/**
 * Whether an object is ready: a workload by its replicas, other kinds by a condition if they have one, otherwise by
 * their existence.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
 */
function isReady(object: AnyObject): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false;
  const { spec, status = {} } = object as AnyObject & Workload;
  const number = (field: string): number => (typeof status[field] === "number" ? status[field] : 0);
  const observed = number("observedGeneration") >= (object.metadata.generation ?? 0);
  switch (`${object.kind}.${object.apiVersion}`) {
    case "Deployment.apps/v1":
      return (
        observed &&
        number("updatedReplicas") >= (spec?.replicas ?? 1) &&
        number("availableReplicas") >= (spec?.replicas ?? 1)
      );
    case "StatefulSet.apps/v1":
    case "ReplicaSet.apps/v1":
      return observed && number("readyReplicas") >= (spec?.replicas ?? 1);
    case "DaemonSet.apps/v1":
      return observed && number("numberReady") >= number("desiredNumberScheduled");
    case "Job.batch/v1":
      return isTrue(status, "Complete");
    case "PersistentVolumeClaim.v1":
      return status["phase"] === "Bound";
    case "Namespace.v1":
      return status["phase"] === "Active";
    case "CustomResourceDefinition.apiextensions.k8s.io/v1":
      return isTrue(status, "Established");
    default:
      return !status.conditions?.some((condition) => condition.type === "Ready") || isTrue(status, "Ready");
  }
}

function isTrue(status: NonNullable<Workload["status"]>, type: string): boolean {
  return status.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;
}
