/**
 * Drains a module whose file is gone while objects have its finalizers: its controllers only finalize, until no object
 * has any.
 *
 * If the file was renamed or is back, the module that takes over its controllers takes over its objects too.
 */
import type { RunningController } from "../controller/controller.ts";
import { controllerName, declarationsOf, isObjectController } from "../controller/declarations.ts";
import type { AnyController } from "../controller/definition.ts";
import type { Holders, Retirement } from "../controller/retirement.ts";
import type { Log } from "../observe/log.ts";
import { groupKind } from "../resource/handle.ts";
import type { WebhookHost } from "../webhook/webhook-host.ts";
import type { Contributions } from "./contributions.ts";
import type { GracePeriod } from "./grace-period.ts";
import type { LoadedModule } from "./loaded-module.ts";
import type { ModuleDefinitions } from "./module-definitions.ts";

/** A module that is removed. */
export interface Leaving {
  readonly module: Pick<LoadedModule, "name" | "invoke">;
  readonly definitions: ModuleDefinitions;
  /** Controllers that end are removed from the list. */
  readonly controllers: RunningController[];
  readonly contributions: Pick<Contributions, "withdraw">;
}

interface Retired {
  readonly definition: AnyController;
  readonly running: RunningController;
  readonly retirement: Retirement;
}

export class Draining {
  /** Resolves when no object has a finalizer that no other module has taken over. */
  readonly ended: Promise<void>;
  readonly #retired: Retired[];
  readonly #end = Promise.withResolvers<void>();

  private constructor(retired: Retired[]) {
    this.#retired = retired;
    this.ended = this.#end.promise;
    for (const { retirement } of retired) void retirement.ended.then(() => this.#look());
  }

  /**
   * Ends every part of a module except those that its controllers need to finalize. Resolves when none of these
   * reconciles any more.
   *
   * @returns undefined when none of its controllers has a finalizer; then it keeps running.
   */
  static async begin(
    { module, controllers, contributions, definitions }: Leaving,
    { grace, webhooks }: { readonly grace: GracePeriod; readonly webhooks: WebhookHost | undefined },
  ): Promise<Draining | undefined> {
    const { name, invoke } = module;
    const finalizing = controllers.filter(({ finalizers }) => finalizers.length > 0);
    if (finalizing.length === 0) return undefined;
    // The registrations are removed first, so that the API server sends no requests in vain. Objects in other
    // versions are converted until the end.
    const converting = { name, webhooks: [], resources: definitions.resources, invoke };
    await grace.within((signal) => webhooks?.put(converting, { signal }));
    contributions.withdraw();
    const others = controllers.filter((one) => !finalizing.includes(one));
    const definitionOf = (running: RunningController) =>
      definitions.controllers.find((one) => controllerName(one) === running.name)!;
    const retire = async (running: RunningController): Promise<Retired> => {
      const retirement = await running.retire("drain", { grace: grace.left });
      return { definition: definitionOf(running), running, retirement };
    };
    const [retired] = await Promise.all([
      Promise.all(finalizing.map(retire)),
      Promise.all(others.map((one) => one.stop({ grace: grace.left }))),
    ]);
    controllers.splice(0, controllers.length, ...finalizing);
    return new Draining(retired);
  }

  get hasEnded(): boolean {
    return this.#retired.every(({ retirement }) => retirement.hasEnded);
  }

  get holders(): readonly Holders[] {
    return this.#retired.map(({ retirement }) => retirement.holders).filter(({ objects }) => objects > 0);
  }

  get objects(): number {
    return this.holders.reduce((sum, { objects }) => sum + objects, 0);
  }

  /** The objects that it waits for, in words. */
  get message(): string {
    const [first] = this.holders;
    if (first === undefined) return "looking for objects that carry its finalizers";
    const deleting = this.holders.reduce((sum, one) => sum + one.deleting, 0);
    const such = first.example === undefined ? "" : `, such as ${first.kind} ${first.example}`;
    return `objects that carry its finalizers: ${this.objects}, being deleted: ${deleting}${such}`;
  }

  /** Returns the definitions that no other module may have: the controllers without one of these successors. */
  definitionsBeside(successors: readonly AnyController[]): ModuleDefinitions {
    const controllers = this.#retired.flatMap(({ definition }) =>
      successors.some((one) => succeeds(one, definition)) ? [] : [definition],
    );
    return { controllers, resources: [], webhooks: [], plugins: [] };
  }

  /** Ends the controllers that these succeed. */
  async handOver(successors: readonly AnyController[], options: { readonly grace: number }): Promise<void> {
    const { controllers: remaining } = this.definitionsBeside(successors);
    const handedOver = this.#retired.filter(({ definition }) => !remaining.includes(definition));
    await Promise.all(handedOver.map(({ running }) => running.stop(options)));
    for (const one of handedOver) this.#retired.splice(this.#retired.indexOf(one), 1);
    this.#look();
  }

  #look(): void {
    if (this.hasEnded) this.#end.resolve();
  }
}

/**
 * Whether a controller finalizes the objects that another one has left: it reconciles the same kind, and has or had its
 * name.
 */
function succeeds(one: AnyController, other: AnyController): boolean {
  if (!isObjectController(one)) return false;
  const { name, formerly, for: primary } = declarationsOf(one);
  if (groupKind(primary!.resource) !== groupKind(declarationsOf(other).for!.resource)) return false;
  const left = controllerName(other);
  return name === left || formerly.includes(left);
}

/**
 * Calls the function that follows the end of a module, and logs a failure, for which the next module is not to blame.
 */
export async function cleanUp(
  gone: () => Promise<void>,
  { module, log }: { readonly module: string; readonly log: Pick<Log, "error"> },
): Promise<void> {
  try {
    await gone();
  } catch (error) {
    log.error("Cannot clean up after a module that has drained", { module, error });
  }
}
