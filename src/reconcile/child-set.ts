/** `children.sync`: makes what the cluster has of an object's children the set that its reconciler wants. */
import { applyChild, knownChild } from "./child-application.ts";
import { planChild, type PlannedChild } from "./child-plan.ts";
import { prune, removeTracked, surplusOf } from "./child-pruning.ts";
import type { SyncOptions } from "./children.ts";
import { checkSet, type DesiredSet, objectsOf } from "./desired-object.ts";
import { WaitingForChildren } from "./errors.ts";
import { isReady } from "./readiness.ts";
import type { RunOfObject } from "./run.ts";

export class ChildSet {
  readonly #run: RunOfObject;
  #synced = false;

  constructor(run: RunOfObject) {
    this.#run = run;
  }

  async sync(desired: DesiredSet, options: SyncOptions<string> = {}): Promise<unknown> {
    this.#admit();
    checkSet(desired, options);
    const plans = new Map<string, PlannedChild[]>();
    const wanted = new Set<string>();
    for (const [name, given] of Object.entries(desired)) {
      const planned = objectsOf(name, given).map((object) => planChild(this.#run, name, object));
      for (const child of planned) {
        if (wanted.has(child.id)) throw new TypeError(`Cannot sync children: ${child.what} is in the set twice`);
        wanted.add(child.id);
      }
      plans.set(name, planned);
    }
    const surplus = surplusOf(this.#run, wanted, options);
    if (wanted.size === 0 && surplus.prune.length > 0 && surplus.kept === 0 && options.allowEmpty !== true) {
      throw new TypeError(
        `Cannot sync children: the set is empty and would delete ${surplus.prune.map(({ object }) => `${object.kind} ${object.metadata.name}`).join(", ")}; ` +
          "pass `{ allowEmpty: true }` when that is meant",
      );
    }
    // Every refusal comes before the first write.
    for (const [name, planned] of plans) {
      for (const child of planned) {
        child.adopt = adopts(options, name);
        child.live = await knownChild(this.#run, child);
      }
    }
    const complete = await this.#applyAll(plans, options.after ?? {});
    if (complete) await prune(this.#run, surplus, options.after);
    return this.#result(desired, plans);
  }

  /** Deletes the children that no garbage collector finds: those tracked by a label. */
  async removeTracked(): Promise<void> {
    await removeTracked(this.#run);
  }

  #admit(): void {
    const { deleting, environment } = this.#run;
    if (deleting) throw new TypeError("Cannot sync children: the object is being deleted");
    if (this.#synced) {
      throw new TypeError(
        "Cannot sync children twice in one run: a set is complete, so a second one would prune the first",
      );
    }
    if (environment.owned.length === 0) throw new TypeError("Cannot sync children: the controller declares no `owns`");
    this.#synced = true;
  }

  /** Applies what is not waiting for others; false when something was. */
  async #applyAll(
    plans: ReadonlyMap<string, readonly PlannedChild[]>,
    after: { readonly [name: string]: readonly string[] | undefined },
  ): Promise<boolean> {
    const open = new Set(plans.keys());
    let waiting = false;
    while (open.size > 0) {
      const ready = [...open].filter((name) => !after[name]?.some((earlier) => open.has(earlier)));
      if (ready.length === 0) throw new TypeError(`Cannot sync children: ${[...open].join(", ")} wait for each other`);
      const wave: PlannedChild[] = [];
      for (const name of ready) {
        open.delete(name);
        const waits = after[name]?.some((earlier) =>
          plans.get(earlier)?.some(({ live }) => live === undefined || !isReady(live)),
        );
        if (waits) waiting = true;
        else wave.push(...plans.get(name)!);
      }
      await this.#applyWave(wave);
    }
    return !waiting;
  }

  async #applyWave(wave: readonly PlannedChild[]): Promise<void> {
    if (wave.length === 1) return applyChild(this.#run, wave[0]!); // the common case, without the promises of the other
    const results = await Promise.allSettled(wave.map((child) => applyChild(this.#run, child)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  #result(desired: DesiredSet, plans: ReadonlyMap<string, readonly PlannedChild[]>): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const [name, planned] of plans) {
      const objects = planned.map(({ live, what }) => {
        if (live === undefined) throw new WaitingForChildren(`${what} waits for the children before it`);
        return live;
      });
      result[name] = Array.isArray(desired[name]) ? objects : objects[0];
    }
    return result;
  }
}

function adopts(options: SyncOptions<string>, name: string): boolean {
  const { adopt } = options;
  return typeof adopt === "boolean" ? adopt : adopt?.includes(name) === true;
}
