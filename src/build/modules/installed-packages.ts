/** The packages of npm that files belong to. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string | undefined;
  /** The package's folder. */
  readonly folder: string;
}

interface Manifest {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly license?: unknown;
  readonly gypfile?: unknown;
  readonly binary?: unknown;
  readonly napi?: unknown;
}

/** Packages that only load a native addon for another package. */
const loaders: readonly string[] = [
  "bindings",
  "node-gyp-build",
  "node-gyp-build-optional-packages",
  "@mapbox/node-pre-gyp",
  "@napi-rs/cli",
];

/** Returns each package once, by name and version. */
export function packagesOfFiles(files: Iterable<string>): readonly InstalledPackage[] {
  const installed = new Map<string, InstalledPackage>();
  for (const file of files) {
    const folder = packageFolder(file);
    if (folder === undefined || installed.has(folder)) continue;
    const { name, version, license } = manifestIn(folder);
    if (typeof name !== "string") continue;
    installed.set(folder, {
      name,
      version: typeof version === "string" ? version : "",
      license: typeof license === "string" ? license : undefined,
      folder,
    });
  }
  const unique = new Map([...installed.values()].map((one) => [`${one.name}@${one.version}`, one]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Whether a package contains code for one kind of machine, which neither an executable nor an image can contain. */
export function isNative({ name, folder }: InstalledPackage): boolean {
  if (loaders.includes(name)) return true;
  const { gypfile, binary, napi } = manifestIn(folder);
  if (gypfile === true || binary !== undefined || napi !== undefined) return true;
  return existsSync(join(folder, "binding.gyp")) || isFolder(join(folder, "prebuilds"));
}

/** The folder of the package below the innermost `node_modules` of a path. */
function packageFolder(file: string): string | undefined {
  const marker = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(marker);
  if (at < 0) return undefined;
  const start = at + marker.length;
  const [first = "", second = ""] = file.slice(start).split(sep);
  return join(file.slice(0, start), first.startsWith("@") ? join(first, second) : first);
}

function manifestIn(folder: string): Manifest {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the manifest of the project around a folder: the nearest `package.json` that has a name. */
export function projectOf(folder: string): Readonly<Record<string, unknown>> | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const manifest = manifestIn(at);
    if (manifest.name !== undefined) return manifest as Readonly<Record<string, unknown>>;
    if (dirname(at) === at) return undefined;
  }
}
