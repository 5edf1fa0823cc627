/** `children.sync`: makes what the cluster has of an object's children the set that its reconciler wants. */
import { isStub } from "../cache/projection.ts";
import { isNotFound } from "../kube/api-error.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { type DesiredObject, planChild, type PlannedChild } from "./child-plan.ts";
import type { SyncOptions } from "./children.ts";
import { AlreadyOwned, NotOwned, WaitingForChildren } from "./errors.ts";
import { appliedFields, isAppliedBy } from "../client/managed-fields.ts";
import { childId, OWNER_INDEX, type OwnedKind } from "./owned-kind.ts";
import { CHILD_ANNOTATION, controllerOf, ownerUid } from "./owner.ts";
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
    const surplus = this.#surplus(wanted, options.keep ?? []);
    if (wanted.size === 0 && surplus.prune.length > 0 && surplus.kept === 0 && options.allowEmpty !== true) {
      throw new TypeError(
        `Cannot sync children: the set is empty and would delete ${surplus.prune.map(({ object }) => `${object.kind} ${object.metadata.name}`).join(", ")}; ` +
          "pass `{ allowEmpty: true }` when that is meant",
      );
    }
    // Every refusal comes before the first write.
    for (const [name, planned] of plans) {
      for (const child of planned) child.live = await this.#ours(child, adopts(options, name));
    }
    const complete = await this.#applyAll(plans, options.after ?? {});
    if (complete) for (const { kind, object } of surplus.prune) await this.#delete(kind, object);
    return this.#result(desired, plans);
  }

  /** Deletes the children that no garbage collector finds: those tracked by a label. */
  async removeTracked(): Promise<void> {
    for (const kind of this.#run.environment.owned) {
      if (kind.track !== "label") continue;
      for (const object of this.#existing(kind)) {
        if (controllerOf(object) === undefined) await this.#delete(kind, object);
      }
    }
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

  /** The object of the child's name, when it is this owner's child or may be adopted. */
  async #ours(child: PlannedChild, adopt: boolean): Promise<AnyObject | undefined> {
    const { informer } = child.kind;
    let object = informer.store.get(keyString(child.key));
    // A selector hides foreign objects of the name, and a stub their owner.
    const hidden = object === undefined && (informer.labels !== undefined || informer.fields !== undefined);
    if (hidden || (object !== undefined && isStub(object))) {
      object = await this.#run.environment.parts.reader.findLive(child.kind.resource, child.key);
    }
    if (object === undefined) return undefined;
    if (ownerUid(object) === this.#run.object.metadata.uid) return object;
    const controller = controllerOf(object);
    if (controller !== undefined) {
      throw new AlreadyOwned(
        `Cannot take over ${child.what}: it is controlled by ${controller.kind} ${controller.name}`,
      );
    }
    if (adopt) return object;
    throw new NotOwned(
      `Cannot take over ${child.what}: it exists and is not a child of this object; delete or rename it, or pass \`{ adopt: true }\``,
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
    if (live !== undefined) {
      const fields = appliedFields(live, controller);
      if (memory.isApplied(id, live, { desired: content, live, fields })) return;
    }
    const answer = await parts.writer.apply(child.kind.resource, child.body(), this.#run, { force: true });
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

  /** Children that this controller made and the set no longer names. */
  #surplus(wanted: ReadonlySet<string>, keep: readonly string[]): { prune: Surplus[]; kept: number } {
    const prune: Surplus[] = [];
    let kept = 0;
    for (const kind of this.#run.environment.owned) {
      if (!kind.informer.hasSynced)
        throw new Error(`Cannot sync children: the cache of ${kind.resource.kind} is not synced`);
      for (const object of this.#existing(kind)) {
        if (wanted.has(childId(kind.resource, keyString(object.metadata)))) continue;
        if (!isAppliedBy(object, this.#run.environment.managers)) continue;
        if (keep.includes(object.metadata.annotations?.[CHILD_ANNOTATION] ?? "")) kept++;
        else if (object.metadata.deletionTimestamp === undefined) prune.push({ kind, object });
      }
    }
    return { prune, kept };
  }

  #existing(kind: OwnedKind): readonly AnyObject[] {
    return kind.informer.store.byIndex(OWNER_INDEX, this.#run.object.metadata.uid);
  }

  async #delete(kind: OwnedKind, object: AnyObject): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    const preconditions = { uid, resourceVersion };
    try {
      await this.#run.environment.parts.writer.delete(kind.resource, object.metadata, this.#run, {
        propagation: "Background",
        preconditions,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#run.environment.memory.forget(childId(kind.resource, keyString(object.metadata)));
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

interface Surplus {
  readonly kind: OwnedKind;
  readonly object: AnyObject;
}

function adopts(options: SyncOptions<string>, name: string): boolean {
  const { adopt } = options;
  return typeof adopt === "boolean" ? adopt : adopt?.includes(name) === true;
}
