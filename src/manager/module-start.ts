/** Prepares the start of a module: its kinds on the server, and the permissions that it declares. */
import { isApiError } from "../kube/errors/api-error.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { ModuleRegistry } from "../module/module-registry.ts";
import { sleep } from "../platform/clock.ts";
import { ListenError } from "../server/bind-address.ts";
import { giveBack } from "../webhook/registration/lent-conversion.ts";
import { ownerName } from "../webhook/registration/owner-mark.ts";
import type { Process } from "./process.ts";
import type { Webhooks } from "./webhooks.ts";
import { installCrds, installGate } from "./install-crds.ts";

export interface ModuleStartParts {
  readonly modules: ModuleRegistry;
  /** Converts objects of modules that are about to start. */
  readonly webhooks: Webhooks;
  /** Whether to try again when the server refuses CustomResourceDefinitions, instead of throwing. */
  readonly retries: boolean;
}

interface Beginning {
  readonly start: () => Promise<void>;
  readonly signal: AbortSignal;
}

interface Hindrance {
  readonly message: string;
  /** Whether the modules' webhooks have no listener yet. */
  readonly lacksListener: boolean;
}

/** Milliseconds between two attempts to install kinds that the server refuses: at first, and at most; with jitter. */
const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;
/** The response to a definition that the server would refuse again. */
const INVALID = 422;

export class ModuleStart {
  readonly #process: Process;
  readonly #parts: ModuleStartParts;
  readonly #installing = installGate();
  /** The definitions that got an address of this process alone. */
  readonly #lent = new Set<string>();

  constructor(process: Process, parts: ModuleStartParts) {
    this.#process = process;
    this.#parts = parts;
  }

  /**
   * Starts a module. If the server refuses its CustomResourceDefinitions, the module is postponed and tried again.
   *
   * @throws an error that prevents it from ever running.
   */
  async begin(module: LoadedModule, start: () => Promise<void>): Promise<void> {
    const { modules, retries } = this.#parts;
    const { stopping } = this.#process;
    stopping.throwIfAborted();
    using _converting = this.#convert(module);
    const lacking = this.#lacking(module);
    if (lacking !== undefined && !retries) throw new Error(lacking);
    const hindrance = await this.#tryToBegin(module, { start, signal: stopping });
    if (hindrance === undefined) return;
    const signal = modules.postpone(module, hindrance.message, hindrance.lacksListener);
    this.#beginLater(module, { start, signal }).catch((error: unknown) => {
      if (signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      modules.markBroken(module.name, { file: module.file, message });
    });
  }

  /** Ends a module, and revokes its permissions; a module that drains keeps them until it is gone. */
  async end(name: string): Promise<void> {
    await this.#parts.modules.remove(name, async () => this.#process.access?.leave(name));
  }

  /** Serves conversions for a module before it starts: the API server requests them as soon as its definitions change. */
  #convert({ definitions, invoke }: LoadedModule): Disposable {
    return this.#parts.webhooks.host.convertFor({ resources: definitions.resources, invoke });
  }

  /** Returns a required plugin that no module has. */
  #lacking({ name, definitions }: LoadedModule): string | undefined {
    return this.#parts.modules.plugins.missing(definitions.plugins, name);
  }

  /**
   * Waits until the next try; a module that lacks a plugin is tried when one was added.
   *
   * @throws the signal's reason.
   */
  async #pause(
    module: LoadedModule,
    { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock } = this.#process;
    if (this.#lacking(module) === undefined) return sleep(ms, { clock, signal });
    const woken = new AbortController();
    using _listening = this.#parts.modules.plugins.onChange(() => woken.abort());
    const either = AbortSignal.any([signal, woken.signal]);
    await sleep(ms, { clock, signal: either }).catch(() => signal.throwIfAborted());
  }

  /**
   * Removes the address of this process from the definitions that have it. Never rejects.
   *
   * @param within milliseconds.
   */
  async giveBack(within: number): Promise<void> {
    const { installer: transport, connectionClock: clock, log } = this.#process;
    if (this.#lent.size === 0) return;
    const late = new AbortController();
    using _timer = clock.setTimeout(() => late.abort(new Error("it took too long")), within);
    const hasEnded = (process: string): boolean => process === ownerName();
    const returns = [...this.#lent].map(async (name) => {
      try {
        if (await giveBack(name, { transport, hasEnded, signal: late.signal }))
          log.info("The address of the conversion webhook is taken back", { name });
      } catch (error) {
        const msg = "Cannot take back the address of the conversion webhook: binnacle check --cluster does";
        log.warn(msg, { name, error });
      }
    });
    await Promise.all(returns);
  }

  #permitted(module: LoadedModule, start: () => Promise<void>): Promise<void> {
    const ended = () => this.#parts.modules.settled(module.name);
    return this.#process.access?.run(module, start, ended) ?? start();
  }

  /** Tries to begin until the module leaves or runs. */
  async #beginLater(module: LoadedModule, { start, signal }: Beginning): Promise<void> {
    const { modules } = this.#parts;
    for (let pause = FIRST_RETRY; ; pause = Math.min(2 * pause, LAST_RETRY)) {
      await this.#pause(module, { ms: pause * (0.5 + Math.random() / 2), signal });
      using _converting = this.#convert(module);
      const hindrance = await this.#tryToBegin(module, { start, signal });
      if (hindrance === undefined) return;
      modules.postpone(module, hindrance.message, hindrance.lacksListener);
    }
  }

  /** Starts a module. @returns the present obstacle. @throws errors that will not go away by themselves. */
  async #tryToBegin(module: LoadedModule, { start, signal }: Beginning): Promise<Hindrance | undefined> {
    try {
      const message = this.#lacking(module) ?? (await this.#install(module, signal));
      if (message !== undefined) return { message, lacksListener: false };
      await this.#permitted(module, start);
      return undefined;
    } catch (error) {
      // Another process may end and free the port, as the previous process does.
      if (!(error instanceof ListenError) || !this.#parts.retries) throw error;
      return { message: error.message, lacksListener: true };
    }
  }

  /**
   * Installs the kinds that a module defines.
   *
   * @returns why the server refuses them for now; `undefined` when they exist, or need not be installed.
   * @throws errors that will not go away by themselves.
   */
  async #install(module: LoadedModule, signal: AbortSignal): Promise<string | undefined> {
    const { installer: transport, log, connectionClock: clock, settings } = this.#process;
    if (!settings["install-crds"]) return undefined;
    const { conversionClient } = this.#parts.webhooks;
    const conversion =
      conversionClient && ((gone: AbortSignal) => conversionClient({ module: module.name, signal: gone }));
    const onLent = (name: string): void => void this.#lent.add(name);
    const options = { transport, clock, log, signal, gate: this.#installing, conversion, onLent };
    try {
      await installCrds(module.definitions.resources, options);
      return undefined;
    } catch (error) {
      if (!this.#parts.retries || !isApiError(error) || error.code === INVALID) throw error;
      return `Cannot install the CustomResourceDefinitions of ${module.file}: ${error.message}`;
    }
  }
}
