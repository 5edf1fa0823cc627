/** `children.sync`: makes what the cluster has of an object's children the set that its reconciler wants. */
import { isStub } from "../cache/projection.ts";
import { isConflict } from "../kube/api-error.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { type DesiredObject, planChild, type PlannedChild } from "./child-plan.ts";
import { prune, removeTracked, surplusOf } from "./child-pruning.ts";
import type { SyncOptions } from "./children.ts";
import { AlreadyOwned, NotOwned, WaitingForChildren } from "./errors.ts";
import type { AppliedState } from "../client/applied-memory.ts";
import { differences } from "../client/field-differences.ts";
import { appliedFields } from "../client/managed-fields.ts";
import { controllerOf, ownerUid } from "./owner.ts";
import { isReady } from "./readiness.ts";
import type { RunOfObject } from "./run.ts";

type Wanted = Readonly<Record<string, DesiredObject | readonly DesiredObject[] | undefined>>;

export class ChildSet {
  readonly #run: RunOfObject;
  #synced = false;

  constructor(run: RunOfObject) {
    this.#run = run;
  }

  async sync(desired: Wanted, options: SyncOptions<string> = {}): Promise<unknown> {
    this.#admit();
    const plans = new Map<string, PlannedChild[]>();
    const wanted = new Set<string>();
    for (const [name, given] of Object.entries(desired)) {
      const objects =
        given === undefined ? [] : Array.isArray(given) ? (given as DesiredObject[]) : [given as DesiredObject];
      const planned = objects.map((object) => planChild(this.#run, name, object));
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
        child.live = await this.#known(child);
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

  /** The object of the child's name as the cache has it, when it is this owner's child or may be adopted. */
  async #known(child: PlannedChild): Promise<AnyObject | undefined> {
    const { informer } = child.kind;
    const object = informer.store.get(keyString(child.key));
    // A selector hides foreign objects of the name, and a stub their owner.
    const hidden = object === undefined && (informer.labels !== undefined || informer.fields !== undefined);
    if (hidden || (object !== undefined && isStub(object))) return this.#found(child);
    return this.#ours(child, object);
  }

  /** As the server has it. */
  async #found(child: PlannedChild): Promise<AnyObject | undefined> {
    return this.#ours(child, await this.#run.environment.parts.reader.findLive(child.kind.resource, child.key));
  }

  #ours({ what, adopt }: PlannedChild, object: AnyObject | undefined): AnyObject | undefined {
    if (object === undefined || ownerUid(object) === this.#run.object.metadata.uid) return object;
    const controller = controllerOf(object);
    if (controller !== undefined) {
      throw new AlreadyOwned(`Cannot take over ${what}: it is controlled by ${controller.kind} ${controller.name}`);
    }
    if (adopt) return object;
    throw new NotOwned(
      `Cannot take over ${what}: it exists and is not a child of this object; delete or rename it, or pass \`{ adopt: true }\``,
    );
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
    if (wave.length === 1) return this.#apply(wave[0]!); // the common case, without the promises of the other
    const results = await Promise.allSettled(wave.map((child) => this.#apply(child)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #apply(child: PlannedChild): Promise<void> {
    const { memory, controller, managers, parts } = this.#run.environment;
    const { live, content, id } = child;
    if (live?.metadata.deletionTimestamp !== undefined) return; // its deletion is an event, and then it is made anew
    const state = { desired: content, live, fields: live && appliedFields(live, controller) };
    if (live !== undefined && memory.isApplied(id, live, state)) return;
    this.#tell(child, state);
    const answer = await this.#send(child);
    memory.remember(id, answer, { desired: content, live: answer, fields: appliedFields(answer, controller) });
    child.live = answer;
    for (const former of managers) {
      if (former === controller || appliedFields(answer, former) === undefined) continue;
      // What an earlier name of this controller applied, and the new one does not want, goes with its last claim.
      child.live = await parts.writer.apply(child.kind.resource, child.identity(), this.#run, {
        force: true,
        manager: former,
      });
    }
  }

  async #send(child: PlannedChild): Promise<AnyObject> {
    const { writer } = this.#run.environment.parts;
    const { resource } = child.kind;
    if (child.live === undefined) {
      try {
        // The cache may lag: without force, an object that somebody made in the meantime keeps what it says.
        return await writer.apply(resource, child.body(), this.#run, { force: false });
      } catch (error) {
        if (!isConflict(error)) throw error;
        child.live = await this.#found(child);
      }
    }
    return writer.apply(resource, child.body(), this.#run, { force: true });
  }

  #tell({ id, what, live }: PlannedChild, state: AppliedState): void {
    const { memory, log, clock } = this.#run.environment;
    if (live === undefined) return;
    const isFight = memory.isFight(id, state.desired, clock.now());
    if (!isFight && !log.enabled("debug")) return;
    const differs = state.fields === undefined ? ["everything"] : differences(state.desired, live, state.fields);
    if (!isFight) return this.#run.log.debug("Applying a child that differs", { child: what, differs });
    this.#run.log.warn("A child keeps changing back: somebody else writes fields that this controller sets", {
      child: what,
      differs,
    });
  }

  #result(desired: Wanted, plans: ReadonlyMap<string, readonly PlannedChild[]>): Record<string, unknown> {
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
