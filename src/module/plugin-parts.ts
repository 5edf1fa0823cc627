/** The hooks, transforms, sources and services of one plugin, and its functions for the end. */
import type { NamedSources } from "../controller/named-sources.ts";
import type { RunHook } from "../controller/run-hooks.ts";
import type { Invoke } from "../controller/controller-scope.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Provided } from "../reconcile/services.ts";
import type { AroundOptions, Plugin, PluginSource, Registry } from "./plugin.ts";
import type { KindTransform, PluginPlace } from "./plugin-board.ts";
import * as check from "./option-checks.ts";

export interface PluginPartsOptions {
  readonly plugin: Plugin;
  readonly invoke: Invoke;
  readonly sources: NamedSources | undefined;
  /** Fires when the module has left. */
  readonly gone: AbortSignal;
  /** Called with an error of a hook, a transform or an end; it contains nothing sensitive. */
  readonly onError: (error: unknown, what: string) => void;
  /** Calls the module's code; the module waits for the end of work that the call began. */
  readonly call: Provided["call"];
}

export class PluginParts {
  readonly #options: PluginPartsOptions;
  readonly #hooks: RunHook[] = [];
  readonly #transforms: KindTransform[] = [];
  readonly #services = new Map<string, Provided>();
  readonly #ends: (() => void | Promise<void>)[] = [];

  constructor(options: PluginPartsOptions) {
    this.#options = options;
  }

  get place(): PluginPlace {
    return {
      plugin: this.#options.plugin,
      hooks: this.#hooks,
      transforms: this.#transforms,
      services: this.#services,
    };
  }

  /** @throws Error when the setup has not provided a service that the plugin names. */
  mustProvideAll(): void {
    const { name: plugin, provides = [] } = this.#options.plugin;
    const missing = provides.find(({ name }) => !this.#services.has(name));
    if (missing === undefined) return;
    throw new Error(`plugin '${plugin}' says that it provides '${missing.name}': its setup must call provide for it`);
  }

  readonly around: Registry["around"] = (hook, { controllers, failurePolicy = "Ignore" }: AroundOptions = {}) => {
    const { plugin, invoke, gone, onError } = this.#options;
    if (typeof hook !== "function") throw this.#wrong("a hook", "expected a function (run, next)");
    if (failurePolicy !== "Ignore" && failurePolicy !== "Fail") {
      throw this.#wrong("a hook", `failurePolicy must be "Ignore" or "Fail", got ${JSON.stringify(failurePolicy)}`);
    }
    if (controllers !== undefined && !Array.isArray(controllers)) {
      throw this.#wrong("a hook", "'controllers' must be a list of names");
    }
    const names = controllers && new Set(controllers);
    this.#hooks.push({
      plugin: plugin.name,
      call: (run, next) => invoke(() => hook(run, next)),
      failurePolicy,
      isMeant: (controller) => names === undefined || names.has(controller),
      onError: (error) => onError(error, `a hook of plugin ${plugin.name}`),
      gone,
    });
  };

  readonly transform: Registry["transform"] = (resource, change) => {
    const problem = check.kind(resource);
    if (problem !== undefined) throw this.#wrong("a transform", problem);
    if (typeof change !== "function") throw this.#wrong("a transform", `expected a function of a ${resource.kind}`);
    const { plugin, invoke, onError } = this.#options;
    const call = change as unknown as (draft: AnyObject) => void;
    let hasTold = false;
    this.#transforms.push({
      resource,
      change: (draft) => {
        try {
          invoke(() => call(draft));
        } catch (error) {
          // The transform may throw for each object of the cluster, so only its first error is reported.
          if (!hasTold)
            onError(
              error,
              `a transform of ${resource.kind} of plugin ${plugin.name}: objects are kept as it left them`,
            );
          hasTold = true;
        }
      },
    });
  };

  readonly source: Registry["source"] = (name): PluginSource => {
    const problem = check.name(name);
    if (problem !== undefined) throw this.#wrong("a source", problem);
    const { plugin, sources, gone } = this.#options;
    const id = `${plugin.name}/${name}`;
    return Object.freeze({
      enqueue: (...keys: Parameters<PluginSource["enqueue"]>) => {
        if (!gone.aborted) sources?.enqueue(id, keys);
      },
      takes: (key: Parameters<PluginSource["takes"]>[0]) => !gone.aborted && sources?.takes(id, key) === true,
    });
  };

  readonly provide: Registry["provide"] = ({ name }, instance) => {
    const { plugin, call } = this.#options;
    if (plugin.provides?.some((one) => one.name === name) !== true)
      throw this.#wrong(`the service '${name}'`, "name it in the plugin's 'provides'");
    if (typeof instance !== "object" || instance === null)
      throw this.#wrong(`the service '${name}'`, "a service is an object with methods");
    this.#services.set(name, { instance, call });
  };

  readonly onLeave: Registry["onLeave"] = (end) => {
    if (typeof end !== "function") throw this.#wrong("what ends it", "expected a function");
    this.#ends.push(end);
  };

  /** Calls the functions that were passed to `onLeave`. Never rejects. */
  async leave(): Promise<void> {
    const { plugin, invoke, onError } = this.#options;
    for (const end of this.#ends.splice(0).toReversed()) {
      try {
        await invoke(end);
      } catch (error) {
        onError(error, `the end of plugin ${plugin.name}`);
      }
    }
  }

  #wrong(what: string, problem: string): TypeError {
    return new TypeError(`Cannot add ${what} of plugin '${this.#options.plugin.name}': ${problem}`);
  }
}
