/** Orders plugins that require each other. */
import type { Plugin } from "./plugin.ts";

type Required = Pick<Plugin, "name" | "requires">;

/** Orders plugins for setup: each after those that it requires, otherwise by name. @throws Error for a circle. */
export function pluginOrder<P extends Required>(plugins: Iterable<P>): readonly P[] {
  const byName = new Map([...plugins].sort((a, b) => (a.name < b.name ? -1 : 1)).map((one) => [one.name, one]));
  const ordered = new Set<P>();
  const visit = (plugin: P, path: readonly string[]): void => {
    if (ordered.has(plugin)) return;
    const { name, requires = [] } = plugin;
    if (path.includes(name)) {
      const circle = [...path.slice(path.indexOf(name)), name].join(" → ");
      throw new Error(`Plugins require each other in a circle: ${circle}; take one of them out of its 'requires'`);
    }
    for (const required of requires) {
      const other = byName.get(required);
      if (other !== undefined) visit(other, [...path, name]);
    }
    ordered.add(plugin);
  };
  for (const plugin of byName.values()) visit(plugin, []);
  return [...ordered];
}

/** Returns a required plugin that does not exist; `undefined` when all exist. */
export function missingPlugin(plugins: Iterable<Required>, isThere: (name: string) => boolean): string | undefined {
  for (const { name, requires = [] } of plugins) {
    const missing = requires.find((required) => !isThere(required));
    if (missing !== undefined) {
      return (
        `plugin '${name}' requires the plugin '${missing}', which no module has: add the module that exports it, ` +
        `or take it out of 'requires'`
      );
    }
  }
  return undefined;
}

/**
 * Returns the modules in the order in which they can start: each after the modules whose plugins its own plugins
 * require, otherwise in the order of the argument. Modules whose requirements cannot be met come last.
 */
export function moduleOrder<M>(modules: readonly M[], pluginsOf: (module: M) => readonly Required[]): readonly M[] {
  const left = [...modules];
  const ordered: M[] = [];
  const there = new Set<string>();
  while (left.length > 0) {
    const next = left.findIndex((module) => {
      const own = pluginsOf(module);
      return missingPlugin(own, (name) => there.has(name) || own.some((plugin) => plugin.name === name)) === undefined;
    });
    const [module] = left.splice(Math.max(next, 0), 1) as [M];
    for (const { name } of pluginsOf(module)) there.add(name);
    ordered.push(module);
  }
  return ordered;
}

/** Returns the reasons why modules cannot start together, a message each: plugins that are missing, and circles. */
export function requirementProblems(
  modules: readonly { readonly file: string; readonly definitions: { readonly plugins: readonly Required[] } }[],
): readonly string[] {
  const plugins = modules.flatMap(({ definitions }) => definitions.plugins);
  const there = new Set(plugins.map(({ name }) => name));
  const problems = modules.flatMap(({ file, definitions }) => {
    const missing = missingPlugin(definitions.plugins, (name) => there.has(name));
    return missing === undefined ? [] : [`${file}: ${missing}`];
  });
  try {
    pluginOrder(plugins);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}
