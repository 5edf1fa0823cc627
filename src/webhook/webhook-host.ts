/**
 * The webhooks of all loaded modules.
 *
 * The module registry adds and removes the webhooks that modules export. The host mounts an endpoint for each path and
 * notifies registration (which configurations the API server needs) and conversion (which kinds have several versions).
 */
import type { WebhookResults } from "../observe/webhook-metrics.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { needsConversion } from "../resource/crd-conversion.ts";
import { groupKind, type Resource } from "../resource/handle.ts";
import { AdmissionEndpoint } from "./admission-endpoint.ts";
import { AdmissionMember } from "./admission-member.ts";
import type { AdmissionScope } from "./admission-run.ts";
import { type DeclaredWebhook, declaredByPath, declaredWebhooks, webhookName } from "./declared-webhook.ts";
import type { AnyWebhook } from "./definition.ts";
import { ConversionEndpoint } from "./conversion/conversion-endpoint.ts";
import { ConvertedKinds } from "./conversion/converted-kinds.ts";
import type { KindLookup } from "./conversion/conversion-review.ts";
import type { ReviewEndpoint } from "./review-endpoint.ts";
import { type ReviewRuntime, ReviewRoutes } from "./review-routes.ts";

/** The webhooks and kinds of a module. */
export interface WebhookModule {
  readonly name: string;
  readonly webhooks: readonly AnyWebhook[];
  /** The kinds that the module defines. Those with several versions need a conversion webhook. */
  readonly resources: readonly Resource[];
  /** Calls the module's code in its own context. */
  readonly invoke: <T>(call: () => T) => T;
}

/** The webhooks and kinds that must be registered with the API server. */
export interface ServedWebhooks {
  /** The webhooks, each path once. */
  readonly webhooks: readonly DeclaredWebhook[];
  /** The kinds with several versions, whose definitions name `/convert`. */
  readonly converted: readonly Resource[];
}

/** Removes registrations of webhooks that are about to leave; awaited before their handlers end. */
export type BeforeLeaving = (left: ServedWebhooks) => Promise<void>;

/** The client and caches of a definition, which end with its module. */
export interface ScopedWebhook extends Disposable {
  readonly scope: AdmissionScope;
  /** The reason why its caches are not synced; `undefined` when they are. */
  readonly notReady: string | undefined;
}

export interface WebhookHostOptions {
  readonly runtime: ReviewRuntime;
  /** Makes the client and the caches of a definition. */
  readonly scopeOf: (webhook: AnyWebhook, module: WebhookModule) => ScopedWebhook;
  /** Called before a module with webhooks or conversions is served; if it throws, the module does not start. */
  readonly ensureListening: (module: string) => void;
  /** Called when a module's code threw, after that was logged. */
  readonly onError: (module: string) => void;
  /** The failure policy of all webhooks, instead of the declared ones. @default as declared */
  readonly failurePolicy?: "Ignore" | undefined;
  /** Whether to freeze the objects that `validate` sees. @default false */
  readonly freeze?: boolean | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

/** One definition of a loaded module. */
interface Served {
  readonly webhook: AnyWebhook;
  readonly scoped: ScopedWebhook;
  readonly results: WebhookResults;
  readonly members: ReadonlyMap<string, AdmissionMember>;
}

interface Loaded {
  readonly module: WebhookModule;
  readonly served: readonly Served[];
}

export class WebhookHost {
  readonly routes: ReviewRoutes;
  readonly #options: WebhookHostOptions;
  readonly #clock: Clock;
  /** The modules by name. */
  readonly #loaded = new Map<string, Loaded>();
  readonly #mounted = new Map<string, Disposable>();
  readonly #conversion: ConversionEndpoint;
  readonly #converted = new ConvertedKinds();
  readonly #listeners = new Set<() => void>();
  readonly #beforeLeaving = new Set<BeforeLeaving>();

  constructor(options: WebhookHostOptions) {
    const { log, metrics } = options.runtime;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.routes = new ReviewRoutes(options.runtime, this.#clock);
    const find: KindLookup = (group, kind) => this.#converted.find(group, kind);
    this.#conversion = new ConversionEndpoint({ find, metrics: metrics.conversions, log, clock: this.#clock });
  }

  /** The served webhooks, ordered by the modules' names. */
  get served(): ServedWebhooks {
    return servedBy(this.modules());
  }

  /** The loaded modules, ordered by name. */
  modules(): readonly WebhookModule[] {
    return this.#inOrder().map(({ module }) => module);
  }

  /**
   * Converts objects of a module's kinds before the module is added, until the returned value is disposed of: its
   * definitions change first, and the API server then sends requests at once.
   */
  convertFor(module: Pick<WebhookModule, "resources" | "invoke">): Disposable {
    const early = this.#converted.lend(module);
    this.#route();
    return {
      [Symbol.dispose]: () => {
        early[Symbol.dispose]();
        this.#route();
      },
    };
  }

  /** The reason why a webhook would not respond correctly; `undefined` when all would. */
  get notReady(): string | undefined {
    for (const { served } of this.#loaded.values()) {
      for (const { webhook, scoped } of served) {
        if (scoped.notReady !== undefined) return `webhook ${webhookName(webhook)}: ${scoped.notReady}`;
      }
    }
    return undefined;
  }

  /** Called after each change of the served webhooks, when the handlers already respond. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Called before handlers leave that no other module has. */
  beforeLeaving(listener: BeforeLeaving): Disposable {
    this.#beforeLeaving.add(listener);
    return { [Symbol.dispose]: () => void this.#beforeLeaving.delete(listener) };
  }

  /**
   * Serves a module's webhooks, in place of an earlier version's. The new ones respond at once; the promise resolves
   * when the calls of the earlier ones have ended, or when the signal has cut them off.
   */
  async put(module: WebhookModule, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const old = this.#loaded.get(module.name);
    if (old !== undefined && isSame(old.module, module)) return;
    const { webhooks, converted } = servedBy([module]);
    if (webhooks.length + converted.length > 0) this.#options.ensureListening(module.name);
    const loaded: Loaded = { module, served: module.webhooks.map((webhook) => this.#serve(webhook, module)) };
    if (old !== undefined) {
      const next = [...this.#others(module.name), module];
      await this.#announceLeaving(leaving(this.served, servedBy(next)));
    }
    // A concurrent change may have replaced the module since the announcement.
    const before = this.#loaded.get(module.name);
    this.#loaded.set(module.name, loaded);
    this.#mount();
    if (before !== undefined) await this.#end(before, signal);
  }

  /** Removes a module's webhooks: their registrations first, then the routes, then the active calls. */
  async remove(name: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const old = this.#loaded.get(name);
    if (old === undefined) return;
    await this.#announceLeaving(leaving(this.served, servedBy(this.#others(name))));
    // An unreachable server is waited for, longer than the grace period, so the module may be back by then.
    if (this.#loaded.get(name) !== old) return;
    this.#loaded.delete(name);
    this.#mount();
    await this.#end(old, signal);
  }

  #serve(webhook: AnyWebhook, module: WebhookModule): Served {
    const { runtime, scopeOf, onError, failurePolicy, freeze = false } = this.#options;
    const scoped = scopeOf(webhook, module);
    const results = runtime.metrics.webhooks.results(webhookName(webhook));
    const members = new Map<string, AdmissionMember>();
    for (const { path, type } of declaredWebhooks(webhook)) {
      const member = new AdmissionMember(type, {
        scope: scoped.scope,
        invoke: module.invoke,
        clock: this.#clock,
        freeze,
        ignoresFailures: (failurePolicy ?? webhook.failurePolicy) === "Ignore",
        results,
        onPanic: () => {
          runtime.metrics.webhooks.panicked();
          onError(module.name);
        },
      });
      members.set(path, member);
    }
    return { webhook, scoped, results, members };
  }

  /** Mounts the present webhooks, and notifies the listeners. */
  #mount(): void {
    this.#route();
    for (const listener of this.#listeners) listener();
  }

  /** Mounts the present webhooks, and unmounts those that are gone. */
  #route(): void {
    const byPath = new Map<string, AdmissionMember[]>();
    for (const { served } of this.#inOrder()) {
      for (const { members } of served) {
        for (const [path, member] of members) {
          const chain = byPath.get(path);
          if (chain === undefined) byPath.set(path, [member]);
          else chain.push(member);
        }
      }
    }
    const endpoints: ReviewEndpoint[] = [...byPath].map(([path, members]) => new AdmissionEndpoint(path, members));
    this.#converted.set(this.#inOrder().map(({ module }) => module));
    if (!this.#converted.isEmpty) endpoints.push(this.#conversion);
    for (const endpoint of endpoints) this.#mounted.set(endpoint.path, this.routes.mount(endpoint));
    for (const [path, mounted] of this.#mounted) {
      if (endpoints.some((endpoint) => endpoint.path === path)) continue;
      mounted[Symbol.dispose]();
      this.#mounted.delete(path);
    }
  }

  async #announceLeaving(left: ServedWebhooks): Promise<void> {
    if (left.webhooks.length + left.converted.length === 0) return;
    await Promise.all([...this.#beforeLeaving].map((listener) => listener(left)));
  }

  async #end({ module, served }: Loaded, signal: AbortSignal): Promise<void> {
    const members = served.flatMap((one) => [...one.members.values()]);
    const leave = (): void => {
      for (const member of members) member.leave(`the module ${module.name} has left`);
    };
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    await Promise.all(members.map((member) => member.idle()));
    signal.removeEventListener("abort", leave);
    leave();
    for (const { scoped, results } of served) {
      scoped[Symbol.dispose]();
      results[Symbol.dispose]();
    }
  }

  #inOrder(): readonly Loaded[] {
    return [...this.#loaded.values()].sort((a, b) => (a.module.name < b.module.name ? -1 : 1));
  }

  #others(name: string): readonly WebhookModule[] {
    return this.modules().filter((module) => module.name !== name);
  }
}

/** Returns the registrations of some modules. `manifests` needs them without a running process. */
export function servedBy(modules: readonly Pick<WebhookModule, "webhooks" | "resources">[]): ServedWebhooks {
  const converted = new Map<string, Resource>();
  for (const resource of modules.flatMap(({ resources }) => resources)) {
    if (needsConversion(resource)) converted.set(groupKind(resource), resource);
  }
  return {
    webhooks: [...declaredByPath(modules.flatMap(({ webhooks }) => webhooks)).values()],
    converted: [...converted.values()],
  };
}

/** Whether a module has the present webhooks; a new version of it has a context of its own. */
function isSame(one: WebhookModule, other: WebhookModule): boolean {
  return (
    one.invoke === other.invoke && sameList(one.webhooks, other.webhooks) && sameList(one.resources, other.resources)
  );
}

function sameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/** Returns the webhooks and kinds that are served now, and will not be any more. */
function leaving(now: ServedWebhooks, next: ServedWebhooks): ServedWebhooks {
  const paths = new Set(next.webhooks.map(({ path }) => path));
  const kinds = new Set(next.converted.map(groupKind));
  return {
    webhooks: now.webhooks.filter(({ path }) => !paths.has(path)),
    converted: now.converted.filter((resource) => !kinds.has(groupKind(resource))),
  };
}
