/** The files of modules in a ConfigMap. */
import { realpathSync } from "node:fs";
import { basename, relative, resolve, sep } from "node:path";
import { importsOf } from "#runtime/module-host";
import { type Closure, closureOf } from "../../loader/closure.ts";
import { configName } from "../../loader/config-names.ts";
import { type ModuleEntry, scanFolders } from "../../loader/scan.ts";
import type { ModuleConfig } from "../../module/config/config.ts";
import { UserError } from "../usage-error.ts";
import { isBuiltin } from "node:module";
import { bundleText, isRuntimeModule } from "#runtime/bundler";

/** The API server's limit for a ConfigMap, less the room for everything but the data. */
const LIMIT = 1024 * 1024 - 4096;

export interface MountedFile {
  /** The key in the ConfigMap: letters, digits, `-`, `_` and `.`. */
  readonly key: string;
  /** The path below the mount. */
  readonly path: string;
  readonly text: string;
}

/**
 * The modules' files, and the files of their folder that they import. A module that imports packages, or files of other
 * folders such as those that `binnacle types` writes, becomes one file with all of them.
 *
 * @param offered what the binary offers for import; there are no other packages beside a ConfigMap.
 * @param configs the configurations of modules by their files.
 * @throws UserError when something would not be there, or there is too much of it.
 */
export async function configMapFiles(
  folders: readonly string[],
  offered: readonly string[],
  configs: ReadonlyMap<string, readonly ModuleConfig[]> = new Map(),
): Promise<readonly MountedFile[]> {
  const files = new Map<string, string>();
  const add = (path: string, text: string): void => {
    if (files.has(path) && files.get(path) !== text) {
      throw new UserError(
        `Cannot put two files called '${path}' into one ConfigMap: rename one, or build an image and pass --image`,
      );
    }
    files.set(path, text);
  };
  for (const folder of folders) {
    const root = realpathSync(resolve(folder));
    for (const entry of scanFolders([folder])) {
      const closure = closureOf(entry.file);
      if (isOutside(closure, root) || importsPackages(closure, offered)) {
        refuseForeignConfig(entry, configs.get(entry.file) ?? []);
        add(...(await bundled(entry, offered)));
      } else for (const [path, text] of closure.sources) add(relative(root, path), text);
    }
  }
  const size = [...files].reduce((sum, [path, text]) => sum + Buffer.byteLength(text) + 2 * path.length, 0);
  if (size > LIMIT) {
    throw new UserError(
      `Cannot put the modules into a ConfigMap: they take ${size} bytes of ${LIMIT}; build an image and pass --image`,
    );
  }
  const pathOf = new Map<string, string>();
  const mounted = [...files].map(([path, text]) => {
    const key = keyOf(path);
    const other = pathOf.get(key);
    if (other !== undefined) {
      throw new UserError(
        `Cannot put '${other}' and '${path}' into one ConfigMap: both would have the key '${key}'; rename one, or build ` +
          `an image and pass --image`,
      );
    }
    pathOf.set(key, path);
    return { key, path, text };
  });
  return mounted.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * In a bundle, all code seems to come from one file, so a configuration would get the name of the module that imports
 * its file.
 */
function refuseForeignConfig(entry: ModuleEntry, configs: readonly ModuleConfig[]): void {
  const foreign = configs.find(({ name, isNamed }) => !isNamed && name !== configName(entry));
  if (foreign === undefined) return;
  throw new UserError(
    `Cannot put '${entry.file}' into a ConfigMap: it imports the configuration of '${foreign.name}', which would lose its name in a bundle; ` +
      `give it one, as config(z.object({ … }), { name: "${foreign.name}" }), or build an image and pass --image`,
  );
}

/** Keys of a ConfigMap cannot contain slashes, and consist of letters, digits, `-`, `_` and `.`. */
function keyOf(path: string): string {
  return path.replaceAll("/", "__").replaceAll(/[^-._a-zA-Z0-9]/g, "-");
}

/** Returns a folder with an index, which has the name of the module, because logs, metrics and Leases use that name. */
async function bundled({ name, file }: ModuleEntry, offered: readonly string[]): Promise<[path: string, text: string]> {
  return [`${basename(name)}/index.js`, await bundleModule(file, { path: file, offered })];
}

/** Whether a file of the module is outside of the folder. */
function isOutside({ sources }: Closure, root: string): boolean {
  return sources.keys().some((path) => !path.startsWith(root + sep));
}

function importsPackages({ sources }: Closure, offered: readonly string[]): boolean {
  return [...sources].some(
    ([path, text]) =>
      /\.[cm]?[tj]sx?$/.test(path) && importsOf(text).some((specifier) => isPackage(specifier, offered)),
  );
}

interface BundleOptions {
  /** The file's name as the user knows it. */
  readonly path: string;
  /** The imports that the binary offers; the bundle leaves them out. */
  readonly offered: readonly string[];
}

/**
 * Returns JavaScript that imports only packages of the binary and modules of the platform.
 *
 * @throws UserError naming what cannot be part of a text, such as a native addon.
 */
async function bundleModule(file: string, { path: shown, offered }: BundleOptions): Promise<string> {
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot put '${shown}' into a ConfigMap: ${why}; build an image that holds its node_modules, and pass --image`,
    );
  };
  const { outputs, inputs, problem } = await bundleText(file, offered);
  if (problem !== undefined) return refuse(`it cannot become one file together with what it imports: ${problem}`);
  const { isNative, packagesOfFiles } = await import("../../build/index.ts");
  // Some look for their addon with paths that a bundler does not follow.
  const native = packagesOfFiles(inputs).find(isNative);
  if (native !== undefined) return refuse(`it imports the package '${native.name}', a native addon`);
  const asset = outputs.find(({ isAsset }) => isAsset);
  if (asset !== undefined) {
    return refuse(`it needs the file ${asset.name.replace(/^\.?\//, "")} of a package, which is no JavaScript`);
  }
  const [entry] = outputs;
  if (entry === undefined || outputs.length > 1)
    return refuse("it does not become one file together with what it imports");
  return await entry.text();
}

/** Whether an import needs a package that the binary does not have. */
function isPackage(specifier: string, offered: readonly string[]): boolean {
  return (
    !/^[./]/.test(specifier) && !offered.includes(specifier) && !isBuiltin(specifier) && !isRuntimeModule(specifier)
  );
}
