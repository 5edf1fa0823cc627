/** The portions of kinds that a replica keeps, according to the slots that it holds. */
import type { Portion } from "../cache/portion.ts";
import { slotOfName, slotOfUid, SLOTS, SlotSet } from "../cache/slots.ts";
import type { ShardParticipant, Shards } from "../client/shards.ts";
import { controllerOf, labelledOwner, markedOwner, ownerUid } from "../reconcile/owner.ts";
import { type AnyObject, groupKind, type Resource } from "../resource/handle.ts";
import type { ShardBy, ShardLabel } from "./definition.ts";
import { bodiesOwnedBy } from "./needs.ts";
import type { KindWatch } from "./watch.ts";

/** Returns the slot of an object, or {@link EVERY}; `undefined` for an object that no replica keeps. */
type SlotOf = (object: AnyObject) => number | undefined;

/** Replaces a slot when every replica with a share keeps the object. */
const EVERY = -1;

/** All portions of one replica. All users of a portion share one object. */
export class Portions implements ShardParticipant {
  static readonly #cache = new WeakMap<Shards, Portions>();
  readonly #shards: Shards;
  readonly #portions = new Map<string, SlotPortion>();
  /** The slots that this replica holds, and those that it has given up but still has runs for. */
  kept: SlotSet = SlotSet.none;

  private constructor(shards: Shards) {
    this.#shards = shards;
    shards.join(this);
  }

  static of(shards: Shards): Portions {
    let portions = Portions.#cache.get(shards);
    if (portions === undefined) Portions.#cache.set(shards, (portions = new Portions(shards)));
    return portions;
  }

  gained(slots: SlotSet): void {
    const isMore = !this.kept.includes(slots);
    if (!isMore) return;
    this.kept = this.kept.or(slots);
    this.#tell(true);
  }

  dropped(): void {
    const kept = this.kept.and(this.#shards.held);
    if (kept.size === this.kept.size) return;
    this.kept = kept;
    this.#tell(false);
  }

  /** The portion of a kind that is reconciled. */
  primary(by: ShardBy): Portion {
    const slotOf = slotOfObject(by);
    if (by === "uid") return this.#portion("uid", { slotOf, isByUid: true });
    if (by === "namespace") return this.#portion("namespace", { slotOf, ofNamespace: slotOfName });
    return this.#portion(idOf(by), { slotOf, label: by });
  }

  /** The portion of an owned kind: children follow their owners. */
  owned(by: ShardBy, owner: Resource, watch: KindWatch): Portion {
    const isOwned = bodiesOwnedBy(owner, watch);
    const slotOf = slotOfChild(by);
    const id = `${idOf(by)} of ${groupKind(owner)}${watch.options.track === "label" ? " by label" : ""}`;
    return this.#portion(id, { slotOf: (child) => (isOwned(child) ? slotOf(child) : undefined) });
  }

  #portion(id: string, about: About): Portion {
    let portion = this.#portions.get(id);
    if (portion === undefined) this.#portions.set(id, (portion = new SlotPortion(this, id, about)));
    return portion;
  }

  #tell(isMore: boolean): void {
    for (const portion of this.#portions.values()) portion.changed(isMore);
  }
}

interface About {
  readonly slotOf: SlotOf;
  /** Whether a server divides by the hash of the UID. */
  readonly isByUid?: boolean;
  readonly ofNamespace?: (namespace: string) => number;
  readonly label?: ShardLabel;
}

class SlotPortion implements Portion {
  readonly id: string;
  readonly #portions: Portions;
  readonly #about: About;
  readonly #listeners = new Set<(isMore: boolean) => void>();

  constructor(portions: Portions, id: string, about: About) {
    this.#portions = portions;
    this.id = id;
    this.#about = about;
  }

  get isEmpty(): boolean {
    const { label } = this.#about;
    return this.#portions.kept.size === 0 || (label !== undefined && this.#values(label).length === 0);
  }

  has(object: AnyObject): boolean {
    const slot = this.#about.slotOf(object);
    if (slot === EVERY) return this.#portions.kept.size > 0;
    return slot !== undefined && this.#portions.kept.has(slot);
  }

  hasAll(namespace: string | undefined): boolean {
    const { ofNamespace } = this.#about;
    return ofNamespace !== undefined && namespace !== undefined && this.#portions.kept.has(ofNamespace(namespace));
  }

  get shardSelector(): string | undefined {
    const { kept } = this.#portions;
    return this.#about.isByUid === true && kept.size < SLOTS ? kept.shardSelector() : undefined;
  }

  get labels(): string | undefined {
    const { label } = this.#about;
    return label && `${label.label} in (${this.#values(label).join(",")})`;
  }

  onChange(listener: (isMore: boolean) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  changed(isMore: boolean): void {
    for (const listener of this.#listeners) listener(isMore);
  }

  #values({ values }: ShardLabel): readonly string[] {
    return values.filter((value) => this.#portions.kept.has(slotOfName(value)));
  }
}

/** Returns the slot of an object that is reconciled. */
export function slotOfObject(by: ShardBy): SlotOf {
  if (by === "uid") return ({ metadata }) => slotOfUid(metadata.uid);
  if (by === "namespace") return ({ metadata }) => slotOfName(metadata.namespace ?? "");
  const { label, values } = by;
  const slots = new Map(values.map((value) => [value, slotOfName(value)]));
  return ({ metadata: { labels } }) => {
    const value = labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
    return value === undefined ? undefined : slots.get(value);
  };
}

/** Returns the slot of an owned child: the slot of its owner, if the child shows it. */
function slotOfChild(by: ShardBy): SlotOf {
  if (by === "uid") {
    return (child) => {
      const uid = ownerUid(child);
      if (uid !== undefined) return slotOfUid(uid);
      // Somebody has removed the reference, and the mark has only a part of the UID.
      return markedOwner(child) === undefined ? undefined : EVERY;
    };
  }
  if (by === "namespace") {
    return (child) => {
      // An owner reference does not leave the namespace.
      const labelled = controllerOf(child) === undefined ? labelledOwner(child) : undefined;
      return slotOfName((labelled ?? child.metadata).namespace ?? "");
    };
  }
  // A child without the label does not show its owner, and the owner's replica must not miss it.
  const slotOf = slotOfObject(by);
  return (child) => slotOf(child) ?? EVERY;
}

function idOf(by: ShardBy): string {
  return typeof by === "string" ? by : `${by.label} in (${by.values.join(",")})`;
}
