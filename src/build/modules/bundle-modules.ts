/** Bundles modules with all their imports, each as one file. */
import { basename, dirname, relative, resolve, sep } from "node:path";
import { realpathSync } from "node:fs";
import { bundleModule } from "#runtime/bundler";
import { closureOf } from "../../loader/closure.ts";
import { explain } from "../../loader/explain.ts";
import type { ModuleEntry } from "../../loader/scan.ts";
import { printable } from "../../observe/printable.ts";
import type { Bundle } from "../../platform/bundler.ts";
import { BuildError } from "../build-error.ts";
import { type InstalledPackage, isNative, packagesOfFiles } from "./installed-packages.ts";
import { sourceMapIn } from "../../loader/source-map.ts";

export interface BundledModule {
  /** The name of the module's file or folder. */
  readonly name: string;
  /** The code, with a source map. */
  readonly code: string;
  /** Files that the code refers to, by name. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
  /** Every file that is part of the code, as an absolute path. */
  readonly inputs: readonly string[];
  /** The packages of npm that are part of the code. */
  readonly packages: readonly InstalledPackage[];
}

export interface BundleModulesOptions {
  /** The packages that the binary offers to modules, with their exports. */
  readonly offered: Readonly<Record<string, object>>;
  /** The future folder of the modules, with a slash at its end. */
  readonly destination: string;
}

/** Bundles the modules. @throws BuildError for a module that cannot be bundled, and for two with one name. */
export async function bundleModules(
  entries: readonly ModuleEntry[],
  { offered, destination }: BundleModulesOptions,
): Promise<readonly BundledModule[]> {
  refuseNamesakes(entries);
  const modules: BundledModule[] = [];
  for (const one of entries) {
    const name = moduleName(one);
    const folder = controllersFolder(one);
    const options = { root: folder, external: Object.keys(offered), destination: `${destination}${name}/` };
    const bundle = await bundleModule(realpathSync(one.file), options).catch((error: unknown) => {
      throw new BuildError(`Cannot build: ${explained(error, one, offered)}`, { cause: error });
    });
    const packages = packagesOfFiles([...bundle.inputs, ...bundle.addons]);
    refuseAddons(one, bundle, packages);
    modules.push({
      name,
      code: moveSources(bundle.code, folder),
      assets: bundle.assets,
      inputs: bundle.inputs,
      packages,
    });
  }
  return modules;
}

/** Returns the message that loading the module would give, in one line for each mistake. */
export function explained(error: unknown, { file }: ModuleEntry, offered: Readonly<Record<string, object>>): string {
  const text = explain(asLoaded(error), { file: printable(file), sources: closureOf(file).sources, offered });
  return text.startsWith(file) ? text : `${printable(file)}: ${text}`;
}

/**
 * Drops the positions of unresolved imports: without them the errors are the same as those of loading, whose
 * explanations are better.
 */
function asLoaded(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const errors = error.errors.map((one: unknown) => {
    if (typeof one !== "object" || one === null || !("specifier" in one) || !("referrer" in one)) return one;
    return Object.assign(new Error("not found"), { specifier: one.specifier, referrer: one.referrer });
  });
  return new AggregateError(errors, error.message);
}

/** The name of the file or folder, without the controllers folder that it is in. */
export function moduleName({ file }: ModuleEntry): string {
  const name = basename(file);
  return /^index\.[jt]s$/.test(name) ? basename(dirname(file)) : name;
}

/** The real path of the controllers folder that a module is in. */
export function controllersFolder(entry: ModuleEntry): string {
  const folder = dirname(resolve(entry.file));
  return realpathSync(moduleName(entry) === basename(entry.file) ? folder : dirname(folder));
}

/** @throws BuildError when modules of several folders have the same name. */
function refuseNamesakes(entries: readonly ModuleEntry[]): void {
  const byName = new Map<string, ModuleEntry>();
  for (const one of entries) {
    const name = moduleName(one);
    const other = byName.get(name);
    if (other !== undefined) {
      throw new BuildError(
        `Cannot build: '${other.file}' and '${one.file}' would both be the module '${name}'; rename one`,
      );
    }
    byName.set(name, one);
  }
}

/** @throws BuildError when a part of the module runs on only one kind of machine. */
function refuseAddons(
  { file }: ModuleEntry,
  { addons }: Pick<Bundle, "addons">,
  packages: readonly InstalledPackage[],
): void {
  const native = packages.find(isNative);
  const what =
    native !== undefined
      ? `the package '${native.name}'`
      : addons[0] !== undefined
        ? `'${relative(dirname(realpathSync(file)), addons[0])}'`
        : undefined;
  if (what === undefined) return;
  throw new BuildError(
    `Cannot build '${file}': it imports ${what}, a native addon, which is made for one machine and cannot be embedded; ` +
      "use a package without one, or leave the folder outside with --external",
  );
}

/**
 * Renames the sources to paths relative to the module: the bundle of a folder's files becomes `NAME/index.js` in a
 * folder of the same form. The sources' own text is left out, because stack traces need only their names.
 *
 * @param folder the folder to which the sources are relative.
 */
function moveSources(code: string, folder: string): string {
  const place = sourceMapIn(code);
  if (place === undefined) return code;
  const { sourcesContent: _, ...map } = place.map;
  const sources = map.sources.map((source) => `../${placeOf(resolve(folder, source), folder)}`);
  const text = Buffer.from(JSON.stringify({ ...map, sources })).toString("base64");
  return `${code.slice(0, place.start)}\n//# sourceMappingURL=data:application/json;base64,${text}\n`;
}

/** Returns the path below the folder; for a source outside of it, a name without the other folders of this machine. */
function placeOf(source: string, folder: string): string {
  const inside = relative(folder, source);
  if (!inside.startsWith("..")) return inside.replaceAll(sep, "/");
  const marker = `${sep}node_modules${sep}`;
  const at = source.lastIndexOf(marker);
  if (at >= 0) return `node_modules/${source.slice(at + marker.length).replaceAll(sep, "/")}`;
  return inside.replaceAll(sep, "/").replace(/^(\.\.\/)+/, "_outside/");
}
