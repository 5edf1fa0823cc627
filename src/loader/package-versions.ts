/** Checks whether the npm packages that a module imports are made for this binnacle. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importsOf } from "#runtime/module-host";
import { satisfies } from "#runtime/versions";

export interface UnfitPackage {
  /** The imported name, such as `binnacle-plugin-tracing/metrics`. */
  readonly specifier: string;
  readonly message: string;
}

interface PackageFile {
  readonly version?: unknown;
  readonly peerDependencies?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the first package whose `peerDependencies` require another version of binnacle.
 *
 * @param sources the sources of the module's files, by path.
 * @param version the version of this binnacle, such as `1.2.3+abc`.
 */
export function unfitPackage(
  sources: ReadonlyMap<string, string>,
  { version, offered }: { readonly version: string; readonly offered: Readonly<Record<string, unknown>> },
): UnfitPackage | undefined {
  const [released] = /^\d+\.\d+\.\d+/.exec(version) ?? [];
  if (released === undefined) return undefined;
  const checked = new Set<string>();
  for (const [file, source] of sources) {
    for (const specifier of packagesIn(file, source)) {
      if (Object.hasOwn(offered, specifier)) continue;
      const name = packageName(specifier);
      const id = `${dirname(file)} ${name}`;
      if (checked.has(id)) continue;
      checked.add(id);
      const manifest = packageFile(name, file);
      const range = manifest?.peerDependencies?.["binnacle"];
      if (typeof range !== "string" || satisfies(released, range)) continue;
      const which = typeof manifest?.version === "string" ? `'${name}' ${manifest.version}` : `'${name}'`;
      const message =
        `Cannot use the package ${which}: it is made for binnacle ${range}, and this is ${released}; ` +
        `install a version of it for this binnacle, or take such a binnacle`;
      return { specifier, message };
    }
  }
  return undefined;
}

function packagesIn(file: string, source: string): readonly string[] {
  if (!/\.[cm]?[tj]sx?$/.test(file)) return [];
  try {
    return importsOf(source).filter((specifier) => !/^([./]|node:|bun:)/.test(specifier));
  } catch {
    return []; // loading reports that it does not parse
  }
}

function packageName(specifier: string): string {
  const [scope = "", name = ""] = specifier.split("/");
  return specifier.startsWith("@") ? `${scope}/${name}` : scope;
}

/** Returns the package's `package.json` in the nearest `node_modules`. */
function packageFile(name: string, importer: string): PackageFile | undefined {
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    try {
      return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")) as PackageFile;
    } catch {
      // There is no readable package.json here; importing the package reports the reason.
    }
    if (dirname(folder) === folder) return undefined;
  }
}
