/** The exports of a module, as the registry needs them. */
import type { Permissions } from "../client/permissions.ts";
import { declarationsOf } from "../controller/declarations.ts";
import type { AnyController } from "../controller/definition.ts";
import { definitionOf } from "../resource/definition.ts";
import type { Resource } from "../resource/handle.ts";
import { asDefinition } from "./brand.ts";
import type { Plugin } from "./plugin.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import { permissionsOfWebhook } from "../webhook/webhook-scope.ts";
import { permissionsOfPlugin } from "./plugin-client.ts";

export interface ModuleDefinitions {
  readonly controllers: readonly AnyController[];
  /** The handles of `defineResource`. */
  readonly resources: readonly Resource[];
  readonly webhooks: readonly AnyWebhook[];
  readonly plugins: readonly Plugin[];
}

/** Collects the definitions among values and arrays of them. @throws TypeError for another contract version. */
export function collectDefinitions(values: Iterable<unknown>): ModuleDefinitions {
  const seen = new Set<unknown>();
  const controllers: AnyController[] = [];
  const resources: Resource[] = [];
  const webhooks: AnyWebhook[] = [];
  const plugins: Plugin[] = [];
  const take = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) return value.forEach(take);
    const defined = asDefinition(value);
    if (defined?.type === "plugin") plugins.push(defined.plugin);
    else if (defined?.type === "webhook") webhooks.push(defined.webhook);
    else if (defined !== undefined) controllers.push(defined.controller);
    else if (definitionOf(value) !== undefined) resources.push(value as Resource);
  };
  for (const value of values) take(value);
  return { controllers, resources, webhooks, plugins };
}

/** Collects the definitions that a module exports. @throws TypeError for none, and another contract version. */
export function definitionsOf(exports: Readonly<Record<string, unknown>>): ModuleDefinitions {
  const definitions = collectNamed(exports);
  if (Object.values(definitions).some((some: readonly unknown[]) => some.length > 0)) return definitions;
  const names = Object.keys(exports);
  const reason = names.length === 0 ? "it exports nothing" : `its exports (${names.join(", ")}) are none`;
  throw new TypeError(
    `Cannot find a definition: ${reason}; export what defineController, defineKeyController, defineResource, defineWebhook or definePlugin returns, ` +
      "or begin the file's name with '_' when it is not a module",
  );
}

/** Collects the exports. @throws TypeError for another version of the contract, with the name of the export. */
function collectNamed(exports: Readonly<Record<string, unknown>>): ModuleDefinitions {
  try {
    return collectDefinitions(Object.values(exports));
  } catch (error) {
    for (const [name, value] of Object.entries(exports)) {
      try {
        collectDefinitions([value]);
      } catch (cause) {
        throw new TypeError(`export '${name}': ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      }
    }
    throw error;
  }
}

/** Returns the permissions of controllers, webhooks and plugins according to their declarations. */
export function permissionsOf({ controllers, webhooks, plugins }: ModuleDefinitions): readonly Permissions[] {
  const ofControllers = controllers.map((one) => declarationsOf(one).permissions);
  return [...ofControllers, ...webhooks.map(permissionsOfWebhook), ...plugins.map(permissionsOfPlugin)];
}

/** Combines the definitions of two modules. */
export function mergedDefinitions(a: ModuleDefinitions, b: ModuleDefinitions): ModuleDefinitions {
  return {
    controllers: [...a.controllers, ...b.controllers],
    resources: [...new Set([...a.resources, ...b.resources])],
    webhooks: [...a.webhooks, ...b.webhooks],
    plugins: [...a.plugins, ...b.plugins],
  };
}
