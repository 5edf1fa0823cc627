/** Makes the runtime load files of modules through this process: fresh, and with the packages that it offers. */
import { readFileSync } from "node:fs";
import Module, { isBuiltin, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import type { OfferedPackages } from "../module-host.ts";
import { moduleAddress, type ModuleFile, moduleFile } from "./module-address.ts";
import { leaveModule } from "./module-context.ts";
import { followedBuiltins, followResources } from "./module-resources.ts";
import { objectScript, scriptOf } from "./module-source.ts";
import { isByPath, resolvePath } from "./resolve-file.ts";

const OFFERED = "binnacle-offered:";
/** The script that imports a module. */
const ENTRY = "binnacle-entry:";
/** The script that is evaluated behind it. */
const END = "binnacle-end:";

const offered = new Map<string, object | (() => Promise<object>)>();
/** The offered packages that are loaded, by name. */
const namespaces = new Map<string, object>();
/**
 * The scripts that export the offered packages, by address, made before any module can change the objects that making
 * them needs.
 */
const scripts = new Map<string, string>();
/** The addresses of those scripts, by the name of the package; a package that is offered anew gets another one. */
const addresses = new Map<string, string>();
/**
 * Addresses of packages that modules have imported, and of their imports: the offered packages are available to these,
 * too.
 */
const packages = new Set<string>();
/** The errors thrown while versions of modules were loaded, because the runtime wraps them in errors of its own. */
const failures = new Map<string, Error>();

/** The versions whose evaluation has ended: their later imports are evaluated separately. */
const evaluated = new Set<string>();

let areRegistered = false;

/** An import that leads nowhere. */
class ResolveError extends Error {
  override readonly name = "ResolveError" as const;
  readonly code = "ERR_MODULE_NOT_FOUND";
  readonly specifier: string;
  readonly referrer: string;

  constructor(specifier: string, referrer: string) {
    super(`Cannot find ${isByPath(specifier) ? "module" : "package"} '${specifier}' from '${referrer}'`);
    this.specifier = specifier;
    this.referrer = referrer;
  }
}

/** Lets modules import packages of this process, under exactly these names, before any `node_modules`. */
export function offerModules(packages: OfferedPackages): void {
  for (const [name, offer] of Object.entries(packages)) {
    offered.set(name, offer);
    if (typeof offer !== "function") {
      give(name, offer);
    } else {
      namespaces.delete(name);
      addresses.delete(name);
    }
  }
  registerModuleHooks();
}

/** Loads those of the named packages that are offered and not loaded yet. */
export async function loadOffered(names: Iterable<string>): Promise<void> {
  for (const name of names) {
    const offer = offered.get(name);
    if (typeof offer === "function" && !namespaces.has(name)) give(name, await offer());
  }
}

function give(name: string, namespace: object): void {
  if (namespaces.get(name) === namespace) return;
  namespaces.set(name, namespace);
  const address = `${OFFERED}${name}#${scripts.size}`;
  addresses.set(name, address);
  scripts.set(address, objectScript(namespace));
}

/** Whether a package of this name is offered. */
export function isOffered(name: string): boolean {
  return offered.has(name);
}

/**
 * Imports a version of a module, to be called as code of the module.
 *
 * @param onRun called when the module has run up to its first `await`, unless it has thrown.
 */
export async function importModule(file: ModuleFile, onRun: () => void): Promise<Record<string, unknown>> {
  entries.set(file.id, moduleAddress(file));
  runs.set(file.id, onRun);
  const { module } = (await import(`${ENTRY}${file.id}`)) as { readonly module: Record<string, unknown> };
  return module;
}

/** Called outside of modules when an import has ended, in whatever way. */
export async function endImport(id: string): Promise<void> {
  entries.delete(id);
  runs.delete(id);
  evaluated.add(id);
  // When a script throws, the one behind it is not evaluated.
  await import(`${END}${id}/outside`);
}

const entries = new Map<string, string>();
const runs = new Map<string, () => void>();

const LEAVE = Symbol.for("binnacle.modules.leave");
const leaving = 'globalThis[Symbol.for("binnacle.modules.leave")]();';

/**
 * Ends the context of a script; scripts have access only to globals. @param id the version that has run, if it is
 * known.
 */
function leave(id?: string): void {
  leaveModule();
  if (id !== undefined) runs.get(id)?.();
}

/** Returns the script of an address of this process itself; `undefined` for any other. */
function ownScript(url: string): string | undefined {
  if (url.startsWith(OFFERED)) return scripts.get(url);
  if (url.startsWith(END)) return leaving.replace("()", `("${url.slice(END.length)}")`);
  if (!url.startsWith(ENTRY)) return undefined;
  const id = url.slice(ENTRY.length);
  // The second import is evaluated as soon as the first one has finished, or waits for something.
  return `import * as module from ${JSON.stringify(entries.get(id))};\nimport "${END}${id}";\nexport { module };`;
}

/** Returns the error that was thrown while this version was loaded, and forgets it. */
export function takeFailure(id: string): Error | undefined {
  const failure = failures.get(id);
  failures.delete(id);
  return failure;
}

interface Context {
  readonly conditions?: readonly string[];
  readonly importAttributes?: Readonly<Record<string, string | undefined>>;
  readonly parentURL?: string | undefined;
}

/** Matches addresses that no file has; modules that name one get an error of the runtime. */
const OWN = /^binnacle-(module|entry|end):/;

interface Resolved {
  readonly url: string;
  readonly format?: "module";
  readonly shortCircuit?: boolean;
}

type Resolve = (specifier: string, parent: string) => Resolved;

/** From now on files of modules are loaded by their addresses. */
export function registerModuleHooks(): void {
  if (areRegistered) return;
  areRegistered = true;
  registerHooks({
    resolve(specifier, given, next) {
      const context = given as Context;
      const parent = context.parentURL ?? "";
      const resolve: Resolve = (name, parentURL) => next(name, { ...given, parentURL }) as Resolved;
      const importer = moduleFile(parent);
      if (importer !== undefined) return noting(importer.id, () => fromModule(specifier, { importer, resolve }));
      if (OWN.test(specifier)) return { url: specifier, format: "module", shortCircuit: true };
      if (!packages.has(parent)) return next(specifier, given);
      if (isOffered(specifier) && context.conditions?.includes("require") !== true)
        return ofProcess(specifier, resolve);
      return known(next(specifier, given) as Resolved);
    },
    load(url, given, next) {
      const own = ownScript(url);
      if (own !== undefined) return { source: own, format: "module", shortCircuit: true };
      const file = moduleFile(url);
      if (file === undefined) return next(url, given);
      return noting(file.id, () => {
        const type = (given as Context).importAttributes?.["type"];
        if (type === "json") return { source: readFileSync(file.path, "utf8"), format: "json", shortCircuit: true };
        const loadJsx = (path: string): string =>
          String(next(`${pathToFileURL(path).href}?version=${file.id}`, given).source);
        const script = scriptOf(file.path, { type, loadJsx });
        const source = evaluated.has(file.id) ? `${script}\n;${leaving}` : script;
        return { source, format: "module", shortCircuit: true };
      });
    },
  });
  followResources();
  for (const [name, namespace] of Object.entries(followedBuiltins())) give(name, namespace);
  Object.defineProperty(globalThis, LEAVE, { value: leave });
  offerToCommonJs();
}

/** Records thrown errors for {@link takeFailure}. */
function noting<T>(id: string, fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    if (error instanceof Error && !failures.has(id)) failures.set(id, error);
    throw error;
  }
}

function fromModule(
  specifier: string,
  { importer, resolve }: { readonly importer: ModuleFile; readonly resolve: Resolve },
): Resolved {
  if (isOffered(specifier)) return ofProcess(specifier, resolve);
  const followed = addresses.get(`node:${specifier.replace(/^node:/, "")}`);
  if (followed !== undefined) return { url: followed, format: "module", shortCircuit: true };
  const parent = pathToFileURL(importer.path).href;
  if (isBuiltin(specifier) || /^(node|data|https?|npm|jsr):/.test(specifier)) {
    return resolve(isBuiltin(specifier) ? `node:${specifier.replace(/^node:/, "")}` : specifier, parent);
  }
  if (isByPath(specifier)) {
    const path = resolvePath(specifier, importer.path);
    if (path === undefined) throw new ResolveError(specifier, importer.path);
    return { url: moduleAddress({ id: importer.id, path }), format: "module", shortCircuit: true };
  }
  return known(ofPackage(specifier, { importer, resolve }));
}

/** A package of `node_modules` beside the module or above it; the runtime loads it once for the whole process. */
function ofPackage(
  specifier: string,
  { importer, resolve }: { readonly importer: ModuleFile; readonly resolve: Resolve },
): Resolved {
  const parent = pathToFileURL(importer.path).href;
  try {
    const target = resolve(specifier, parent);
    // If the runtime knows no package of the name, it may look for a file of that name beside the module.
    if (target.url !== new URL(specifier, parent).href) return target;
  } catch {
    // CommonJS may still find it.
  }
  try {
    const path = Module.createRequire(importer.path).resolve(specifier);
    return { url: pathToFileURL(path).href, shortCircuit: true };
  } catch {
    throw new ResolveError(specifier, importer.path);
  }
}

function known(resolved: Resolved): Resolved {
  packages.add(resolved.url);
  return resolved;
}

function ofProcess(name: string, resolve: Resolve): Resolved {
  const url = addresses.get(name);
  if (url !== undefined) return { url, format: "module", shortCircuit: true };
  return resolve(name, import.meta.url); // as the program itself would import it
}

type Load = (this: unknown, name: string, parent: Parent | undefined, ...rest: unknown[]) => unknown;

interface Parent {
  readonly filename?: string | null;
}

/** Gives the offered packages to CommonJS files that modules have imported. */
function offerToCommonJs(): void {
  const loader = Module as unknown as { _load: Load };
  const load = loader._load;
  loader._load = function (name, parent, ...rest) {
    const namespace = namespaces.get(name) ?? namespaces.get(`node:${name}`);
    const filename = parent?.filename;
    if (namespace !== undefined && typeof filename === "string" && isOfModules(filename)) return namespace;
    return load.call(this, name, parent, ...rest);
  };
}

/** Folders that hold files of modules and their packages. */
const folders = new Set<string>();

/** From now on CommonJS files below the folder get the offered packages. */
export function knowFolder(folder: string): void {
  folders.add(folder.endsWith("/") ? folder : `${folder}/`);
}

function isOfModules(path: string): boolean {
  return folders.values().some((folder) => path.startsWith(folder));
}
