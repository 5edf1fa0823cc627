/**
 * Determines the surroundings of a test run: settings of the tested folder, packages of it and of the projects around
 * it, as for `check`, `dev` and `build`, and files that the command line names. The working directory is not trusted.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { importsOf, resolveImport } from "#runtime/module-host";
import { closureOf } from "../loader/closure.ts";
import { printable } from "../observe/printable.ts";
import type { TestSettings } from "../platform/test-runner.ts";
import { UserError } from "./usage-error.ts";

/** Files that the command line names, instead of those of the tested folder. */
export interface NamedFiles {
  readonly bunfig: string | undefined;
  readonly tsconfig: string | undefined;
  readonly "env-file": readonly string[] | undefined;
}

/**
 * Returns the files with the settings of the runner.
 *
 * @param empty a folder with an empty bunfig.toml and tsconfig.json.
 * @throws UserError when a named file does not exist.
 */
export function testSettings(folder: string, { named, empty }: { named: NamedFiles; empty: string }): TestSettings {
  const configFile = (name: "bunfig" | "tsconfig", file: string): string => {
    const flag = named[name];
    if (flag !== undefined) return existing(flag, name);
    const own = join(folder, file);
    return resolve(existsSync(own) ? own : join(empty, file));
  };
  const own = join(folder, ".env");
  return {
    bunfig: configFile("bunfig", "bunfig.toml"),
    tsconfig: configFile("tsconfig", "tsconfig.json"),
    environment: named["env-file"]?.map((file) => existing(file, "env-file")) ?? (existsSync(own) ? [own] : []),
  };
}

function existing(file: string, flag: string): string {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new UserError(`Cannot find the file '${file}' (--${flag})`);
  return resolve(file);
}

export interface PackageOptions {
  /** The tested folder. */
  readonly folder: string;
  /** Names that the binary offers. */
  readonly offered: readonly string[];
  /** Folders of packages outside of the tested one that may be used. */
  readonly allowed: readonly string[];
}

/**
 * Checks that the tests can be read, and the origin of the packages that the tests and their files in the tested folder
 * import by a literal name.
 *
 * @throws UserError for a package that the runner would find in a folder above the tested one that has no package.json.
 */
export function checkPackages(tests: readonly string[], { folder, offered, allowed }: PackageOptions): void {
  const root = realpathSync(folder);
  const folders = allowed.map((one) => {
    if (!existsSync(one)) throw new UserError(`Cannot find the folder '${one}' (--node-modules)`);
    return realpathSync(one);
  });
  for (const test of tests) {
    const { sources, unusable } = closureOf(test);
    if (unusable !== undefined) throw new UserError(`Cannot run ${printable(test)}: ${unusable.path} ${unusable.why}`);
    if (printable(test) !== test)
      throw new UserError(`Cannot run ${printable(test)}: its name has characters that cannot be shown; rename it`);
    for (const [file, source] of sources) {
      if (!isIn(root, file)) continue; // packages of its own folder are allowed
      for (const specifier of packagesIn(source)) {
        if (offered.includes(specifier) || isBuiltin(specifier) || isInstalled(specifier, { file, root })) continue;
        const target = resolveImport(specifier, file);
        if (target === undefined || folders.some((one) => isIn(one, realpathSync(target)))) continue;
        if (isOfProject(target, root)) continue;
        const place = shown(target.slice(0, target.lastIndexOf(`node_modules${sep}`) + "node_modules".length));
        throw new UserError(
          `Cannot run ${shown(file)}: it imports '${specifier}', which is not in ${shown(root)} but in ${place}, where there is no ` +
            `package.json; install it in ${shown(root)}, or pass --node-modules ${place}`,
        );
      }
    }
  }
}

function packagesIn(source: string): readonly string[] {
  try {
    return importsOf(source).filter((specifier) => !/^[./#]/.test(specifier));
  } catch {
    return []; // it does not parse, which the runner reports
  }
}

/** Whether a package is installed, as a folder or a link, beside the file or above it within the tested folder. */
function isInstalled(specifier: string, { file, root }: { readonly file: string; readonly root: string }): boolean {
  const name = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1);
  for (let at = dirname(file); isIn(root, at); at = dirname(at)) {
    if (existsSync(join(at, "node_modules", ...name))) return true;
  }
  return false;
}

/** Whether the `node_modules` of a file belongs to a project (with a package.json) that contains the folder. */
function isOfProject(file: string, root: string): boolean {
  const project = file.slice(0, file.lastIndexOf(`${sep}node_modules${sep}`));
  return isIn(project, root) && existsSync(join(project, "package.json"));
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

function shown(path: string): string {
  return relative(process.cwd(), path) || ".";
}
