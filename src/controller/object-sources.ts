/** The daemons and timers of a controller's objects while it works them. */
import type { InformerHandler } from "../cache/informer-handler.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { type AddOptions, LOW_PRIORITY, type WorkQueue } from "../queue/work-queue.ts";
import type { ControllerEnvironment } from "../reconcile/run.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { daemonDeclarations } from "./daemon.ts";
import { isObjectController } from "./declarations.ts";
import type { Members } from "./members.ts";
import { ObjectDaemons } from "./object-daemons.ts";
import type { ObjectSource } from "./object-source.ts";
import { ObjectTimers, type TimerTimes } from "./object-timers.ts";
import { within } from "./within.ts";

export interface ObjectSourcesParts {
  readonly environment: ControllerEnvironment;
  readonly kinds: { readonly primary: SharedInformer | undefined };
  readonly queue: Pick<WorkQueue, "add">;
  readonly members: Members;
}

const EVERY: Cause = Object.freeze({ source: "every", type: "generic" });
/** The options with which timers queue keys. */
const TIMED: AddOptions = Object.freeze({ cause: EVERY, priority: LOW_PRIORITY });

/**
 * **Guarantees.** Daemons and timers end by themselves with the controller and with its leadership. An object on which
 * another replica works has none here.
 */
export class ObjectSources implements Disposable {
  readonly #scope: ControllerScope;
  readonly #kinds: ObjectSourcesParts["kinds"];
  /** The daemons and timers of the previous version, until all of its daemons have ended. */
  #before: ObjectSources | undefined;
  readonly #ofObjects: readonly ObjectSource[];
  readonly #cleanup = new DisposableStack();
  #isOpen = false;

  /** @param before the previous version's, whose daemons have been asked to end; it is kept until they have */
  constructor(scope: ControllerScope, parts: ObjectSourcesParts, before?: ObjectSources) {
    this.#scope = scope;
    this.#kinds = parts.kinds;
    this.#before = before;
    this.#ofObjects = sourcesOfObjects(scope, parts, {
      times: before?.times,
      ended: (key) => this.#before?.ended(key),
    });
    for (const one of this.#ofObjects) this.#cleanup.use(one);
    void before?.drained().then(() => (this.#before = undefined));
  }

  /** Follows the objects from now on; daemons and timers begin with {@link open}. */
  follow(): this {
    if (this.#ofObjects.length === 0) return this;
    const { declarations, module, runtime, stopping } = this.#scope;
    const handler: InformerHandler = {
      onAdd: (object) => this.#look(object),
      onUpdate: (object, old) => this.#look(object, old),
      onDelete: ({ metadata }) => {
        const key = keyString(metadata);
        for (const one of this.#ofObjects) one.gone(key);
      },
    };
    this.#cleanup.use(this.#kinds.primary!.addHandler(handler, { name: `${module}/${declarations.name} daemons` }));
    this.#cleanup.use(runtime.leadership.onChange((isLeader) => isLeader || this.cancel("leadership was lost")));
    stopping.addEventListener("abort", () => this.leave((stopping.reason as Error).message), { once: true });
    return this;
  }

  /** Called when the controller works: the daemons and timers of its objects begin. */
  open(): void {
    if (this.#isOpen || this.#ofObjects.length === 0) return;
    this.#isOpen = true;
    for (const one of this.#ofObjects) one.open();
    this.lookAgain();
    for (const one of this.#ofObjects) one.settled?.();
  }

  /** Examines all objects, or some, because this replica may work on them from now on. */
  lookAgain(isMeant?: (object: AnyObject) => boolean): void {
    if (!this.#isOpen) return;
    for (const object of this.#kinds.primary?.store.values() ?? []) {
      if (isMeant?.(object) !== false) this.#look(object);
    }
  }

  /** Ends daemons and timers of all objects or of some; daemons may still write until the end of the grace period. */
  leave(reason: string, isMeant?: (object: AnyObject) => boolean): void {
    if (isMeant === undefined) this.#isOpen = false;
    for (const one of this.#ofObjects) one.leave(reason, isMeant);
  }

  /** Ends daemons and timers, so that they can write nothing more. */
  cancel(reason: string): void {
    this.#isOpen = false;
    for (const one of this.#ofObjects) one.cancel(reason);
  }

  /** Resolves when all daemons that were asked to end have ended. */
  async drained(isMeant?: (object: AnyObject) => boolean): Promise<void> {
    await Promise.all(this.#ofObjects.flatMap((one) => one.drained?.(isMeant) ?? []));
  }

  /** Ends daemons and timers of these objects. Resolves when none of them can write. */
  async handOver(isMeant: (object: AnyObject) => boolean): Promise<void> {
    if (this.#ofObjects.length === 0) return;
    this.leave("its key goes to another replica", isMeant);
    const { clock, settings } = this.#scope.runtime;
    await within(settings["grace-period"], { work: this.drained(isMeant), clock });
  }

  /** Resolves when every daemon of the key has ended or can no longer write; `undefined` when there is none. */
  ended(key: string): Promise<unknown> | undefined {
    const ending = [this.#before, ...this.#ofObjects]
      .map((one) => one?.ended?.(key))
      .filter((one) => one !== undefined);
    return ending.length === 0 ? undefined : Promise.all(ending);
  }

  /** The times at which timers were due, once the controller was asked to stop. */
  get times(): TimerTimes | undefined {
    return this.#ofObjects.find((one) => one instanceof ObjectTimers)?.times;
  }

  get stuck(): readonly { readonly key: string; readonly since: number }[] {
    return this.#ofObjects.flatMap(({ stuck = [] }) => stuck);
  }

  [Symbol.dispose](): void {
    this.cancel("the controller has stopped");
    this.#cleanup.dispose();
  }

  #look(object: AnyObject, old?: AnyObject): void {
    for (const one of this.#ofObjects) one.look(object, old);
  }
}

/** The daemons and timers of the previous version. */
interface Before {
  readonly times: TimerTimes | undefined;
  /** Resolves when the key's daemons have ended. */
  readonly ended: (key: string) => Promise<unknown> | undefined;
}

function sourcesOfObjects(
  { controller, declarations, runtime, log, invoke, call }: ControllerScope,
  { environment, kinds, queue, members }: ObjectSourcesParts,
  before: Before,
): readonly ObjectSource[] {
  if (!isObjectController(controller)) return [];
  const { clock, metrics, settings, reportsFailures = true } = runtime;
  const cached = (key: string): AnyObject | undefined => kinds.primary?.store.get(key);
  const isOurs = (object: AnyObject): boolean => members.isOurs(object);
  const { resource } = declarations.for!;
  const { every } = controller;
  const sources: ObjectSource[] = daemonDeclarations(controller.daemons).map(
    (daemon) =>
      new ObjectDaemons(daemon, {
        environment,
        resource,
        clock,
        log,
        metrics: metrics.daemon({ controller: environment.controller, daemon: daemon.name }),
        grace: settings["grace-period"],
        isOurs,
        cached,
        enqueue: (key, cause) => queue.add(key, { cause }),
        invoke,
        call,
        reportsFailures,
        before: before.ended,
      }),
  );
  if (every !== undefined) {
    const about = { clock, isOurs, enqueue: (key: string) => queue.add(key, TIMED), call };
    sources.push(new ObjectTimers(every, about, before.times));
  }
  return sources;
}
