/**
 * The packages of npm: `binnacle`, with a launcher and the types, and one with the executable for each target, of which the package
 * manager installs the one that fits, by its `os`, `cpu` and `libc`, so that nothing has to run at installation. Beside them there is
 * the API server alone.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../../src/build/executable/targets.ts";
import type { TarEntry } from "../../src/build/image/tar.ts";
import { filesIn } from "../../src/platform/unpack.ts";

const root = join(import.meta.dirname, "..", "..");

/** A package, as the archive that `npm publish` takes. */
export interface NpmPackage {
  readonly name: string;
  /** Of the archive, as `npm pack` would call it. */
  readonly file: string;
  readonly entries: readonly TarEntry[];
}

interface Project {
  readonly description: string;
  readonly license: string;
  readonly repository?: unknown;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** What declarations of the SDK import. */
const typed = ["zod", "hono", "rfc6902", "@types/bun"];

/** Versions of npm have no build metadata: two that differ in it alone are one version there. */
export function npmVersion(version: string): string {
  return version.replace(/\+.*$/, "");
}

/** The package with the executable for a target. */
export async function platformPackage(
  target: Target,
  { version, binary }: { version: string; binary: string },
): Promise<NpmPackage> {
  const { description, license, repository } = project();
  const name = packageName(target);
  const os = target.os === "windows" ? "win32" : target.os;
  const manifest = {
    name,
    version: npmVersion(version),
    description: `${description}: the executable for ${target.name}`,
    license,
    ...(repository !== undefined && { repository }),
    os: [os],
    cpu: [target.cpu],
    ...(target.libc !== undefined && { libc: [target.libc] }),
    // An executable cannot be run from inside an archive.
    preferUnplugged: true,
  };
  const { size } = await stat(binary);
  return packed(name, version, [
    text("package.json", json(manifest)),
    text(
      "README.md",
      `The executable of binnacle for ${target.name}. Install the package \`binnacle\`, which takes this one.\n`,
    ),
    text("LICENSE", ownFile("LICENSE")),
    { type: "file", path: `bin/binnacle${os === "win32" ? ".exe" : ""}`, mode: 0o755, source: binary, size },
  ]);
}

/** @param exported names of what each entry of the SDK exports as values, by the entry's key in package.json. */
export function mainPackage(
  targets: readonly Target[],
  { version, exported }: { version: string; exported: Readonly<Record<string, readonly string[]>> },
): NpmPackage {
  const { description, license, repository, exports, dependencies, devDependencies } = project();
  const all: Readonly<Record<string, string>> = { ...devDependencies, ...dependencies };
  const manifest = {
    name: "binnacle",
    version: npmVersion(version),
    description,
    license,
    ...(repository !== undefined && { repository }),
    type: "module",
    bin: { binnacle: "bin/binnacle.js" },
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([key, source]) => {
          const declarations = source.replace(/^\.\//, "./types/").replace(/\.ts$/, ".d.ts");
          return [key, { types: declarations, default: `./outside/${entryFile(key)}` }];
        }),
      ),
      "./package.json": "./package.json",
    },
    engines: { node: ">=18" },
    dependencies: Object.fromEntries(typed.map((name) => [name, all[name]])),
    optionalDependencies: Object.fromEntries(targets.map((target) => [packageName(target), npmVersion(version)])),
  };
  const declarations = Object.entries(sdkFiles()).filter(([path]) => /^sdk\/(src|packages)\//.test(path));
  return packed("binnacle", version, [
    text("package.json", json(manifest)),
    ...["README.md", "LICENSE", "CHANGELOG.md"].map((name) => text(name, ownFile(name))),
    text("bin/binnacle.js", readFileSync(join(import.meta.dirname, "npm", "launcher.js"), "utf8"), 0o755),
    ...Object.entries(exported).map(([key, names]) => text(`outside/${entryFile(key)}`, outside(key, names))),
    ...declarations.map(([path, content]) => text(path.replace(/^sdk\//, "types/"), content)),
  ]);
}

/** The package of the API server alone. @param folder as its build has made it */
export function serverPackage(folder: string, { version }: { version: string }): NpmPackage {
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly name: string };
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    statSync(join(folder, file)).isFile(),
  );
  return packed(
    name,
    version,
    files.map((file) => text(file.replaceAll("\\", "/"), readFileSync(join(folder, file), "utf8"))),
  );
}

/** The SDK is inside the executable: whoever imports it elsewhere is told so, and not that a name is missing. */
function outside(key: string, names: readonly string[]): string {
  const specifier = `binnacle${key.slice(1)}`;
  const message =
    `Cannot load '${specifier}' here: it is inside the binary; run modules with \`npx binnacle run\` or \`npx binnacle dev\`, ` +
    "and their tests with `npx binnacle test`";
  const exported = names.filter((name) => name !== "default").map((name) => `absent as ${name}`);
  return `const absent = undefined;\nexport { ${exported.join(", ")} };\nthrow new Error(${JSON.stringify(message)});\n`;
}

function entryFile(key: string): string {
  return key === "." ? "index.js" : `${key.slice(2)}.js`;
}

export function packageName({ name }: Target): string {
  return `@binnacle/${name}`;
}

function packed(name: string, version: string, entries: readonly TarEntry[]): NpmPackage {
  const file = `${name.replace("@", "").replace("/", "-")}-${npmVersion(version)}.tgz`;
  const sorted = entries.map((entry) => ({ ...entry, path: `package/${entry.path}` }));
  return { name, file, entries: sorted.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

function text(path: string, content: string, mode = 0o644): TarEntry {
  return { type: "file", path, mode, bytes: Buffer.from(content) };
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function project(): Project {
  return JSON.parse(ownFile("package.json")) as Project;
}

function ownFile(name: string): string {
  return readFileSync(join(root, name), "utf8");
}

function sdkFiles(): Readonly<Record<string, string>> {
  return filesIn(readFileSync(join(root, "dist", "sdk.json.zst")));
}
