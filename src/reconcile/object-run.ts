/**
 * One run of one object: the context of the author's `reconcile` and `finalize`.
 *
 * Unused parts are never created: the members are getters, which create the parts behind them on first use.
 */
import type { AnyObject, Shape } from "../resource/handle.ts";
import type { Condition } from "../resource/meta.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import { ChildSet } from "./child-set.ts";
import type { Children, ObjectContext, RunEvents, SkippedChild, StatusWriter } from "./context.ts";
import { KeyRun } from "./key-run.ts";
import type { ObjectControllerEnvironment, ObjectRunState, RunItem } from "./run.ts";
import { ObjectStatusWriter } from "./status-writer.ts";

/** The longest message of the condition that reports skipped children. */
const LONGEST_MESSAGE = 1_024;

/** A run with an object: status, children and events belong to it. */
export class ObjectRun extends KeyRun implements ObjectContext<Shape, Shape>, ObjectRunState {
  declare readonly environment: ObjectControllerEnvironment;
  object: AnyObject;
  /** Whether the object has left the selector of `for` and still carries its finalizer. */
  readonly leftSelector: boolean;
  /** Whether the object loses its finalizer without a call of `finalize`. */
  readonly releasing: boolean;
  /** Whether the run finalizes the object. */
  finalizing = false;
  #children: ChildSet | undefined;
  #status: ObjectStatusWriter | undefined;
  #events: RunEvents | undefined;
  #toldSkipped = false;

  constructor(
    environment: ObjectControllerEnvironment,
    item: RunItem,
    about: { object: AnyObject; leftSelector?: boolean; releasing?: boolean },
  ) {
    const { object, leftSelector = false, releasing = false } = about;
    super(environment, item);
    this.object = object;
    this.leftSelector = leftSelector;
    this.releasing = releasing;
  }

  get deleting(): boolean {
    return this.object.metadata.deletionTimestamp !== undefined;
  }

  get children(): Children<Shape> {
    return this.childSet as unknown as Children<Shape>;
  }

  get childSet(): ChildSet {
    return (this.#children ??= new ChildSet(this));
  }

  get status(): StatusWriter<Shape> {
    return this.statusWriter;
  }

  get statusWriter(): ObjectStatusWriter {
    return (this.#status ??= new ObjectStatusWriter(this));
  }

  get events(): RunEvents {
    return (this.#events ??= this.eventsAbout(() => this.object));
  }

  /** The object itself may have sensitive values, which are searched for only when there is a message. */
  override clean(text: string): string {
    const { resource } = this.environment;
    if (sensitiveTexts(resource) !== undefined) {
      this.keep(resource, this.object);
      this.keep(resource, this.latest());
    }
    return super.clean(text);
  }

  latest(): AnyObject {
    const latest = this.environment.latest(this.item.key);
    return latest !== undefined && latest.metadata.uid === this.object.metadata.uid ? latest : this.object;
  }

  /** Writes the unwritten fields of the status, and reports skipped children. */
  flush(): Promise<void> | undefined {
    const children = this.#children;
    if (children !== undefined && this.#hasNews(children)) return this.#flushWithSkipped(children.skipped);
    return this.#status?.flush();
  }

  #hasNews(children: ChildSet): boolean {
    if (this.#toldSkipped || !children.hasSynced) return false;
    this.#toldSkipped = true;
    const isAny = children.skipped.length > 0;
    this.environment.skippedChildren(this.item.key, isAny);
    return isAny || this.#saysSkipped;
  }

  /** Whether the object's condition reports skipped children. */
  get #saysSkipped(): boolean {
    const { status } = this.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
    const type = this.environment.childrenCondition;
    return status?.conditions?.some((condition) => condition.type === type && condition.status === "False") === true;
  }

  /**
   * Reports skipped children with the reasons, or withdraws the report; the condition is written with the rest of the
   * status.
   */
  async #flushWithSkipped(skipped: readonly SkippedChild[]): Promise<void> {
    for (const { message } of skipped) this.events.warning("ChildSkipped", message);
    const { statusShape, childrenCondition: type } = this.environment;
    if ((await statusShape.get()).conditions) {
      const message = skipped.map((child) => child.message).join("; ");
      this.statusWriter.condition(
        skipped.length === 0
          ? { type, status: true, reason: "Synced" }
          : { type, status: false, reason: "ChildSkipped", message: message.slice(0, LONGEST_MESSAGE) },
      );
    }
    await this.#status?.flush();
  }
}
