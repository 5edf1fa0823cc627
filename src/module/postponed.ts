/** Modules that were loaded and cannot be started yet. */
import type { LoadedModule } from "./loaded-module.ts";
import type { ModuleProblem } from "./module-status.ts";

interface Postponed {
  readonly module: LoadedModule;
  readonly message: string;
  readonly lacksListener: boolean;
  readonly leaving: AbortController;
}

/** The waiting modules with their reasons, until they are started, leave, or are replaced. */
export class PostponedModules {
  readonly #byName = new Map<string, Postponed>();
  /** The modules that are disposed of, although their start may be due already. */
  readonly #dropped = new WeakSet<LoadedModule>();

  /**
   * Records why a module waits. An earlier waiting version is disposed of.
   *
   * @param lacksListener whether it waits for the listener of its webhooks. @default false
   * @returns a signal that fires when it need not be tried any more.
   */
  put(module: LoadedModule, message: string, lacksListener = false): AbortSignal {
    const known = this.#byName.get(module.name);
    if (known !== undefined && known.module !== module) this.drop(module.name);
    const leaving = known?.module === module ? known.leaving : new AbortController();
    this.#byName.set(module.name, { module, message, lacksListener, leaving });
    return leaving.signal;
  }

  /**
   * Called when the module is being started; a module that waited under its name before is disposed of.
   *
   * @throws Error when it has been dropped meanwhile; then a newer version continues to wait.
   */
  take(module: LoadedModule): void {
    if (this.#dropped.has(module)) throw new Error(`Cannot start the module ${module.name}: it has left meanwhile`);
    if (this.#byName.get(module.name)?.module === module) this.#byName.delete(module.name);
    else this.drop(module.name);
  }

  /** Called when the module leaves: it is disposed of, and not tried any more. */
  drop(name: string): void {
    const known = this.#byName.get(name);
    if (known === undefined) return;
    this.#byName.delete(name);
    this.#dropped.add(known.module);
    known.leaving.abort(new Error(`The module ${name} is leaving`));
    known.module.dispose();
  }

  dropAll(): void {
    for (const name of this.#byName.keys()) this.drop(name);
  }

  messageOf(name: string): string | undefined {
    return this.#byName.get(name)?.message;
  }

  all(): readonly ModuleProblem[] {
    return [...this.#byName.values()].map(({ module: { name, file }, message }) => ({ name, file, message }));
  }

  withoutListener(): readonly ModuleProblem[] {
    return this.all().filter(({ name }) => this.#byName.get(name)?.lacksListener);
  }
}
