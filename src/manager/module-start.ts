/** Prepares the start of a module: its kinds on the server, and the permissions that it declares. */
import { isApiError } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { Log } from "../observe/log.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { WebhookClientConfig } from "../resource/crd-conversion.ts";
import { ListenError } from "../server/bind-address.ts";
import { giveBack } from "../webhook/registration/lent-conversion.ts";
import { ownerName } from "../webhook/registration/owner-mark.ts";
import type { WebhookHost } from "../webhook/webhook-host.ts";
import type { AccountAccess } from "./account-access.ts";
import { installCrds, installGate } from "./install-crds.ts";

export interface ModuleStartOptions {
  readonly modules: ModuleRegistry;
  /** Installs CustomResourceDefinitions; `undefined` when nothing does. */
  readonly installer: Transport | undefined;
  /** Converts objects of modules that are about to start. */
  readonly webhooks: Pick<WebhookHost, "convertFor">;
  /** How the API server reaches the conversion webhook, which begins to listen for a module; `undefined` when it cannot. */
  readonly conversionClient: ConversionClient | undefined;
  /** Whether to try again when the server refuses them, instead of throwing. */
  readonly retries: boolean;
  /** Grants what modules declare; `undefined` when they may do it anyway. */
  readonly access: AccountAccess | undefined;
  /** The clock by which controllers wait and retry. */
  readonly clock: Clock;
  /** The clock of requests. */
  readonly connectionClock: Clock;
  readonly log: Log;
  /** Fires when the process stops. */
  readonly signal: AbortSignal;
}

/** @throws the signal's reason. */
export type ConversionClient = (to: {
  readonly module: string;
  readonly signal: AbortSignal;
}) => Promise<WebhookClientConfig>;

interface Beginning {
  readonly start: () => Promise<void>;
  readonly signal: AbortSignal;
}

interface Hindrance {
  readonly message: string;
  /** Whether the listener of the module's webhooks is not there. */
  readonly lacksListener: boolean;
}

/** Milliseconds between two attempts to install what the server refuses: at first, and at most; with jitter. */
const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;
/** The response to a definition that the server would refuse again. */
const INVALID = 422;

export class ModuleStart {
  readonly #options: ModuleStartOptions;
  readonly #installing = installGate();
  /** The definitions that got an address of this process alone. */
  readonly #lent = new Set<string>();

  constructor(options: ModuleStartOptions) {
    this.#options = options;
  }

  /**
   * Starts a module. If the server refuses its CustomResourceDefinitions, the module is postponed and tried again.
   *
   * @throws what keeps it from running for good.
   */
  async begin(module: LoadedModule, start: () => Promise<void>): Promise<void> {
    const { modules, signal: stopping } = this.#options;
    stopping.throwIfAborted();
    using _converting = this.#convert(module);
    const lacking = this.#lacking(module);
    if (lacking !== undefined && !this.#options.retries) throw new Error(lacking);
    const hindrance = await this.#tryToBegin(module, { start, signal: stopping });
    if (hindrance === undefined) return;
    const signal = modules.postpone(module, hindrance.message, hindrance.lacksListener);
    this.#beginLater(module, { start, signal }).catch((error: unknown) => {
      if (signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      modules.markBroken(module.name, { file: module.file, message });
    });
  }

  /** Ends a module, and revokes what it was permitted; one that drains keeps its permissions until it is gone. */
  async end(name: string): Promise<void> {
    await this.#options.modules.remove(name, async () => this.#options.access?.leave(name));
  }

  async close(): Promise<void> {
    await this.#options.access?.close();
  }

  /** From the change of its definitions on, the API server requests conversions of the new version of a module. */
  #convert({ definitions, invoke }: LoadedModule): Disposable {
    return this.#options.webhooks.convertFor({ resources: definitions.resources, invoke });
  }

  /** Returns a required plugin that no module has. */
  #lacking({ name, definitions }: LoadedModule): string | undefined {
    return this.#options.modules.plugins.missing(definitions.plugins, name);
  }

  /** Waits until the next try; a module that lacks a plugin is tried when one was added. @throws the signal's reason. */
  async #pause(
    module: LoadedModule,
    { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock, modules } = this.#options;
    if (this.#lacking(module) === undefined) return sleep(ms, { clock, signal });
    const woken = new AbortController();
    using _listening = modules.plugins.onChange(() => woken.abort());
    const either = AbortSignal.any([signal, woken.signal]);
    await sleep(ms, { clock, signal: either }).catch(() => signal.throwIfAborted());
  }

  /** Takes the address of this process out of the definitions that got it. Never rejects. @param within milliseconds. */
  async giveBack(within: number): Promise<void> {
    const { installer: transport, connectionClock: clock, log } = this.#options;
    if (transport === undefined) return;
    const late = new AbortController();
    using _timer = clock.setTimeout(() => late.abort(new Error("it took too long")), within);
    const hasEnded = (process: string): boolean => process === ownerName();
    const given = [...this.#lent].map(async (name) => {
      try {
        if (await giveBack(name, { transport, hasEnded, signal: late.signal }))
          log.info("The address of the conversion webhook is taken back", { name });
      } catch (error) {
        const msg = "Cannot take back the address of the conversion webhook: binnacle check --cluster does";
        log.warn(msg, { name, error });
      }
    });
    await Promise.all(given);
  }

  #permitted(module: LoadedModule, start: () => Promise<void>): Promise<void> {
    const { access, modules } = this.#options;
    return access?.run(module, start, () => modules.settled(module.name)) ?? start();
  }

  /** Tries to begin until the module leaves or runs. */
  async #beginLater(module: LoadedModule, { start, signal }: Beginning): Promise<void> {
    const { modules } = this.#options;
    for (let pause = FIRST_RETRY; ; pause = Math.min(2 * pause, LAST_RETRY)) {
      await this.#pause(module, { ms: pause * (0.5 + Math.random() / 2), signal });
      using _converting = this.#convert(module);
      const hindrance = await this.#tryToBegin(module, { start, signal });
      if (hindrance === undefined) return;
      modules.postpone(module, hindrance.message, hindrance.lacksListener);
    }
  }

  /** Starts a module. @returns what is in its way for now. @throws errors that will not go away by themselves. */
  async #tryToBegin(module: LoadedModule, { start, signal }: Beginning): Promise<Hindrance | undefined> {
    try {
      const message = this.#lacking(module) ?? (await this.#install(module, signal));
      if (message !== undefined) return { message, lacksListener: false };
      await this.#permitted(module, start);
      return undefined;
    } catch (error) {
      // Another process may end and leave the port, as the one before this one does.
      if (!(error instanceof ListenError) || !this.#options.retries) throw error;
      return { message: error.message, lacksListener: true };
    }
  }

  /**
   * Installs the kinds that a module defines.
   *
   * @returns why the server refuses them for now; `undefined` when they exist, or when nobody asked for them.
   * @throws errors that will not go away by themselves.
   */
  async #install(module: LoadedModule, signal: AbortSignal): Promise<string | undefined> {
    const { installer: transport, retries, log, connectionClock: clock, conversionClient } = this.#options;
    if (transport === undefined) return undefined;
    const conversion =
      conversionClient && ((gone: AbortSignal) => conversionClient({ module: module.name, signal: gone }));
    const onLent = (name: string): void => void this.#lent.add(name);
    const options = { transport, clock, log, signal, gate: this.#installing, conversion, onLent };
    try {
      await installCrds(module.definitions.resources, options);
      return undefined;
    } catch (error) {
      if (!retries || !isApiError(error) || error.code === INVALID) throw error;
      return `Cannot install the CustomResourceDefinitions of ${module.file}: ${error.message}`;
    }
  }
}
