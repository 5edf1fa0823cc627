/** The hooks, transforms and services of all modules' plugins, in the order of the plugins' requirements. */
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { RunHook, RunHooks } from "../controller/run-hooks.ts";
import { type AnyObject, groupKind, type Resource } from "../resource/handle.ts";
import type { Provided, Services } from "../reconcile/services.ts";
import { BodyBudget } from "../server/body-budget.ts";
import type { Plugin } from "./plugin.ts";
import { missingPlugin, pluginOrder } from "./plugin-order.ts";

/** A transform of the cached objects of a kind. */
export interface KindTransform {
  readonly resource: Resource;
  /** Changes the object; never throws. */
  readonly change: (draft: AnyObject) => void;
}

/** The registrations of one plugin. */
export interface PluginPlace {
  readonly plugin: Plugin;
  readonly hooks: readonly RunHook[];
  readonly transforms: readonly KindTransform[];
  readonly services: ReadonlyMap<string, Provided>;
}

export interface PluginBoardOptions {
  readonly hooks?: RunHooks | undefined;
  readonly services?: Services | undefined;
  readonly informers: Pick<InformerRegistry, "setTransform">;
}

interface TransformedKind {
  readonly resource: Resource;
  readonly changes: readonly KindTransform["change"][];
}

/** The bytes that the bodies of requests to routes may take together. */
const MOST_ROUTE_BYTES = 64 * 1024 * 1024;

export class PluginBoard {
  /** The budget for bodies of requests to all plugins' routes. */
  readonly bodies: BodyBudget = new BodyBudget({ bytes: MOST_ROUTE_BYTES });
  readonly #options: PluginBoardOptions;
  /** The registrations by module. */
  readonly #places = new Map<string, readonly PluginPlace[]>();
  readonly #listeners = new Set<() => void>();
  /** The kinds that are transformed now, by group, version and kind, with their transforms. */
  #transformed = new Map<string, TransformedKind>();

  constructor(options: PluginBoardOptions) {
    this.#options = options;
  }

  /** Returns a required plugin that neither these plugins nor another module has; `undefined` when all exist. */
  missing(plugins: readonly Plugin[], module: string): string | undefined {
    if (plugins.every(({ requires = [] }) => requires.length === 0)) return undefined;
    const there = new Set([...this.#others(module), ...plugins].map(({ name }) => name));
    return missingPlugin(plugins, (name) => there.has(name));
  }

  /** Returns these plugins in the order of their setups. @throws Error for a circle, also with other plugins. */
  inOrder(plugins: readonly Plugin[], module: string): readonly Plugin[] {
    return pluginOrder([...this.#others(module), ...plugins]).filter((plugin) => plugins.includes(plugin));
  }

  /** Returns the plugins of all modules but one. */
  #others(module: string): readonly Plugin[] {
    return [...this.#places].flatMap(([name, places]) => (name === module ? [] : places.map(({ plugin }) => plugin)));
  }

  /** Calls the listener when a plugin was added or removed. */
  onChange(listener: () => void): Disposable {
    const own = (): void => listener();
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** Puts a module's registrations in force, in place of its previous version's, until it is disposed of. */
  put(module: string, places: readonly PluginPlace[]): Disposable {
    if (places.length === 0 && !this.#places.has(module)) return { [Symbol.dispose]: () => {} };
    this.#places.set(module, places);
    this.#changed();
    return {
      [Symbol.dispose]: () => {
        if (this.#places.get(module) !== places) return;
        this.#places.delete(module);
        this.#changed();
      },
    };
  }

  #changed(): void {
    const byPlugin = new Map([...this.#places.values()].flat().map((place) => [place.plugin, place]));
    const places = pluginOrder(byPlugin.keys()).map((plugin) => byPlugin.get(plugin)!);
    this.#options.hooks?.set(places.flatMap(({ hooks }) => hooks));
    this.#options.services?.set(new Map(places.flatMap(({ services }) => [...services])));
    this.#transform(places.flatMap(({ transforms }) => transforms));
    for (const listener of this.#listeners) listener();
  }

  /** Notifies informers of kinds whose transforms have changed. */
  #transform(transforms: readonly KindTransform[]): void {
    const now = new Map<string, TransformedKind>();
    for (const { resource, change } of transforms) {
      const id = `${groupKind(resource)}/${resource.version}`;
      now.set(id, { resource, changes: [...(now.get(id)?.changes ?? []), change] });
    }
    const before = this.#transformed;
    this.#transformed = now;
    for (const [id, { resource }] of before)
      if (!now.has(id)) this.#options.informers.setTransform(resource, undefined);
    for (const [id, { resource, changes }] of now) {
      const known = before.get(id)?.changes;
      if (known?.length === changes.length && changes.every((change, index) => change === known[index])) continue;
      this.#options.informers.setTransform(resource, (draft) => {
        for (const change of changes) change(draft);
      });
    }
  }
}
