/** Decides which keys a controller works when several replicas divide them. */
import type { Portion } from "../cache/portion.ts";
import { slotOfName, SlotSet } from "../cache/slots.ts";
import type { ShardParticipant, Shards } from "../client/shards.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { parseKey } from "../resource/meta.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { isObjectController } from "./declarations.ts";
import type { ShardBy } from "./definition.ts";
import { Portions, slotOfObject } from "./portions.ts";
import type { KindWatch } from "./watch.ts";

/** One of the controller's informers, and whether it has listed every object that it must keep now. */
interface Listing {
  claim(): { readonly hasSynced: () => boolean };
}

export interface ControllerShareOptions {
  /** The share of the previous version, whose slots this one takes over, so that no key counts as gained. */
  readonly before: ControllerShare | undefined;
  /** The informers that keep a portion, once they have been taken. */
  readonly informers: () => readonly Listing[];
  /**
   * Called when this replica works on these slots from now on, and all their objects that it keeps have been listed.
   */
  readonly onGained: (slots: SlotSet) => void;
  /** Called when no run of these slots may begin any more. Resolves when none of them can write. */
  readonly onDrop: (slots: SlotSet) => Promise<void>;
}

export class ControllerShare implements ShardParticipant {
  readonly #shards: Shards;
  readonly #options: Omit<ControllerShareOptions, "before">;
  readonly #by: ShardBy;
  readonly #slotOf: (object: AnyObject) => number | undefined;
  readonly #isByNamespace: boolean;
  readonly #portions: Portions;
  #slots: SlotSet;
  /** The state of the informers that list the newly gained slots. */
  #claims: readonly { readonly hasSynced: () => boolean }[] | undefined;

  constructor(shards: Shards, { controller }: ControllerScope, options: ControllerShareOptions) {
    const { before, ...rest } = options;
    this.#shards = shards;
    this.#options = rest;
    this.#by = isObjectController(controller) ? (controller.shardBy ?? "uid") : "uid";
    this.#isByNamespace = controller.shardBy === "namespace";
    this.#slotOf = slotOfObject(this.#by);
    this.#portions = Portions.of(shards);
    this.#slots = before === undefined ? SlotSet.none : before.#slots;
  }

  primary(): Portion {
    return this.#portions.primary(this.#by);
  }

  owned(owner: Resource, watch: KindWatch): Portion {
    return this.#portions.owned(this.#by, owner, watch);
  }

  /** Whether runs of the object may be begun. */
  works(object: AnyObject): boolean {
    return this.#isIn(this.#slots, this.#slotOf(object));
  }

  /** Whether runs of a key without an object may be begun. */
  worksKey(key: string): boolean {
    return this.#slots.has(this.#slotOfKey(key));
  }

  /**
   * Why a key that a source brings is not worked here; `undefined` when it is.
   *
   * @param objects the objects of `for` that this replica keeps; `undefined` for keys without an object
   */
  refuses(key: string, objects: { get(key: string): AnyObject | undefined } | undefined): string | undefined {
    const object = objects?.get(key);
    const isHere = objects === undefined ? this.worksKey(key) : object !== undefined && this.works(object);
    return isHere ? undefined : "another replica works the key, or there is no such object";
  }

  isIn(slots: SlotSet, object: AnyObject): boolean {
    return this.#isIn(slots, this.#slotOf(object));
  }

  isRunIn(slots: SlotSet, run: KeyRun): boolean {
    if (run instanceof ObjectRun) return this.#isIn(slots, this.#slotOf(run.object));
    return slots.has(this.#slotOfKey(run.item.key));
  }

  gained(): void {
    // The portions already know the new slots. An informer has the objects that it must keep once it has listed again.
    this.#claims = this.#options.informers().map((informer) => informer.claim());
    this.look();
  }

  async drop(slots: SlotSet): Promise<void> {
    this.#slots = this.#slots.without(slots);
    await this.#options.onDrop(slots);
  }

  /** Called when this replica holds no slots any more. */
  lost(): void {
    this.#slots = SlotSet.none;
    this.#claims = undefined;
  }

  /** Called when an informer may have listed the newly gained slots. */
  look(): void {
    if (this.#claims === undefined || !this.#claims.every(({ hasSynced }) => hasSynced())) return;
    this.#claims = undefined;
    const { held } = this.#shards;
    const slots = held.without(this.#slots);
    this.#slots = held;
    if (slots.size > 0) this.#options.onGained(slots);
  }

  #isIn(slots: SlotSet, slot: number | undefined): boolean {
    return slot !== undefined && slots.has(slot);
  }

  #slotOfKey(key: string): number {
    return slotOfName(this.#isByNamespace ? (parseKey(key).namespace ?? "") : key);
  }
}
