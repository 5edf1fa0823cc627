/** Makes the files of a release: archives and packages of npm for each target, with checksums and where they come from. */
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Target } from "../../src/build/executable/targets.ts";
import type { InstalledPackage } from "../../src/build/modules/installed-packages.ts";
import { writeTarGz, writeZip } from "./archives.ts";
import { archiveEntries, archiveName, billOf, digestOf } from "./contents.ts";
import { checkFormat } from "./format.ts";
import { buildPackage } from "../../packages/apiserver/scripts/build.ts";
import { mainPackage, type NpmPackage, npmVersion, platformPackage, serverPackage } from "./npm-packages.ts";
import { provenance, signed } from "./provenance.ts";
import type { Source } from "./version.ts";

const root = join(import.meta.dirname, "..", "..");

const INSTALLER = "install.sh";

export interface ReleaseOptions {
  readonly version: string;
  readonly source: Source | undefined;
  readonly targets: readonly Target[];
  /** Those of npm whose code is in the executables. */
  readonly packages: readonly InstalledPackage[];
  /** The folder of all releases: this one goes to `v<version>` in it. */
  readonly output: string;
  /** The address that the folder will have, for the installer. @default whoever runs the installer says it */
  readonly address?: string | undefined;
  /** A private key in PEM, to sign with. */
  readonly key?: string | undefined;
  readonly builder?: string | undefined;
  /** Of the project's repository. */
  readonly repository?: string | undefined;
  /** Of the compression, 1 to 9. @default 9 */
  readonly level?: number;
  /** Files that say how the bytecode is laid out, which are part of the release. */
  readonly orders: readonly string[];
  /** Compiles the executable for a target. @returns its path. */
  readonly executableFor: (target: Target, aside: string) => Promise<string>;
  readonly say: (line: string) => void;
  /** Ends it with the next target; what has been made by then is removed. */
  readonly signal?: AbortSignal;
}

/**
 * Writes the release beside its place and then puts it there, and after it the files that lead to it: `latest` and `install.sh`.
 * Where an earlier run ended between the two, this one writes those files and leaves the release as it is.
 *
 * @returns the folder.
 * @throws Error where this version is there already, because what was released does not change.
 */
export async function makeRelease(options: ReleaseOptions): Promise<string> {
  const { version, targets, packages, output, level = 9, orders, say, signal } = options;
  const folder = join(output, `v${version}`);
  // It is there from just before the folder until everything leads to the folder.
  const mark = join(output, `.unfinished-v${version}`);
  if (existsSync(folder)) {
    if (existsSync(mark)) {
      say(`${folder} is there already, from a run that did not finish`);
      await finish(options, mark);
      return folder;
    }
    throw new Error(
      `Cannot release ${version}: ${folder} is there already, and a release does not change; remove it first`,
    );
  }
  const mtime = options.source?.committed ?? 0;
  await mkdir(output, { recursive: true });
  const aside = await mkdtemp(join(output, ".release-"));
  try {
    const draft = join(aside, basename(folder));
    await mkdir(join(draft, "npm"), { recursive: true });
    const write = async ({ file, entries }: NpmPackage): Promise<void> => {
      await writeTarGz(join(draft, "npm", file), entries, { mtime, level });
    };
    for (const target of targets) {
      signal?.throwIfAborted();
      const start = performance.now();
      const binary = await options.executableFor(target, aside);
      checkFormat(binary, target);
      await chmod(binary, 0o755);
      const contents = { version, target, binary, packages, mtime };
      const bill = await billOf(contents);
      const name = archiveName(version, target);
      await writeFile(join(draft, `${name}.cdx.json`), bill);
      const [writeArchive, ending] = target.os === "windows" ? [writeZip, "zip"] : [writeTarGz, "tar.gz"];
      await writeArchive(join(draft, `${name}.${ending}`), await archiveEntries(contents, bill), { mtime, level });
      await write(await platformPackage(target, { version, binary }));
      await rm(binary);
      say(`${name}.${ending} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    }
    signal?.throwIfAborted();
    await write(mainPackage(targets, { version, exported: await exportedNames() }));
    const server = join(aside, "server");
    await buildPackage(server, { version: npmVersion(version) });
    await write(serverPackage(server, { version }));
    for (const order of orders) await writeFile(join(draft, basename(order)), readFileSync(order));
    await writeFile(join(draft, INSTALLER), installer(options), { mode: 0o755 });
    await prove(draft, { ...options, orders: orders.map((order) => basename(order)) });
    await writeFile(mark, "");
    await rename(draft, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  await finish(options, mark);
  return folder;
}

async function finish(options: ReleaseOptions, mark: string): Promise<void> {
  await writeEntry(options);
  await rm(mark, { force: true });
}

/** Writes the provenance and, as the last thing, the checksums of everything. */
async function prove(draft: string, options: ReleaseOptions): Promise<void> {
  const { version, source, targets, orders, key, builder, repository } = options;
  const digests = new Map<string, string>();
  for (const file of await filesBelow(draft)) digests.set(file, await digestOf(join(draft, file)));
  const materials = new Map([
    ["bun.lock", await digestOf(join(root, "bun.lock"))],
    ...orders.map((order) => [order, digests.get(order)!] as const),
  ]);
  const subjects = new Map([...digests].filter(([file]) => !orders.includes(file)));
  const { commit, tag } = source ?? { commit: undefined, tag: undefined };
  const statement = provenance({ version, commit, tag, repository, targets, subjects, materials, builder });
  const files: [string, string][] = [["provenance.json", statement]];
  if (key !== undefined) files.push(["provenance.dsse.json", signed(statement, key)]);
  for (const [file, text] of files) {
    await writeFile(join(draft, file), text);
    digests.set(file, await digestOf(join(draft, file)));
  }
  const lines = [...digests].sort(([a], [b]) => (a < b ? -1 : 1)).map(([file, digest]) => `${digest}  ${file}\n`);
  await writeFile(join(draft, "SHA256SUMS"), lines.join(""));
}

/**
 * What is at the top: the installer, as this release has and proves it, and the version that it takes. A version that is no release does not become the latest one, and
 * neither does a patch of an earlier one.
 */
async function writeEntry({ version, output }: ReleaseOptions): Promise<void> {
  await replace(join(output, INSTALLER), readFileSync(join(output, `v${version}`, INSTALLER), "utf8"));
  const latest = join(output, "latest");
  const before = existsSync(latest) ? readFileSync(latest, "utf8").trim() : "0.0.0";
  if (!version.includes("-") && Bun.semver.order(version, before) > 0) await replace(latest, `${version}\n`);
}

/** It has been told where the releases are going to be. */
function installer({ address = "" }: ReleaseOptions): string {
  const text = readFileSync(join(import.meta.dirname, INSTALLER), "utf8");
  return text.replace(/^RELEASES=""$/m, `RELEASES="${address.replace(/(?<!\/)\/+$/, "")}"`);
}

async function replace(file: string, text: string): Promise<void> {
  const aside = await mkdtemp(join(dirname(file), ".entry-"));
  try {
    await writeFile(join(aside, "new"), text, { mode: 0o755 });
    await rename(join(aside, "new"), file);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const files = await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: folder, onlyFiles: true }));
  return files.map((file) => file.replaceAll("\\", "/")).sort();
}

/** The names of the values that each entry of the SDK exports. */
async function exportedNames(): Promise<Readonly<Record<string, readonly string[]>>> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const names = Object.entries(exports).map(async ([key, file]) => {
    const loaded = (await import(join(root, file))) as object;
    return [key, Object.keys(loaded).sort()] as const;
  });
  return Object.fromEntries(await Promise.all(names));
}
