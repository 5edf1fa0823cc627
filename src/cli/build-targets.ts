/** The modules and targets of a build, and this program for a target. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  buildExecutable,
  hostTarget,
  markUsed,
  parseTarget,
  type Progress,
  type Target,
  targets,
} from "../build/index.ts";
import { findModules } from "../loader/load-all.ts";
import type { ModuleEntry } from "../loader/scan.ts";
import { nearest } from "../module/nearest.ts";
import { BYTECODE_ORDER, cacheFolder } from "../platform/unpack.ts";
import type { BuildValues } from "./build-options.ts";
import type { Host } from "./command.ts";
import { loadModules } from "./loaded-modules.ts";
import { sdkFolder } from "./sdk-folder.ts";
import { UsageError, UserError } from "./usage-error.ts";

/** @param texts `undefined` for this machine. @throws UsageError */
export function targetsOf(texts: readonly string[] | undefined): readonly Target[] {
  if (texts === undefined) {
    const host = hostTarget();
    if (host === undefined)
      throw new UsageError("Say what to build for with --target: nothing is built for this machine");
    return [host];
  }
  const requested = texts
    .flatMap((text) => text.split(","))
    .map((text) => {
      const target = parseTarget(text);
      if (target !== undefined) return target;
      const names = targets.map(({ name }) => name);
      const suggestion = nearest(text, names);
      const advice = suggestion === undefined ? `expected ${names.join(", ")}` : `did you mean ${suggestion}?`;
      throw new UsageError(`--target is '${text}', which nothing is built for: ${advice}`);
    });
  return [...new Set(requested)];
}

/** Finds the modules to build, and loads each once; `undefined` when they stay outside. @throws UserError */
export async function modulesToBuild(
  { controllers, external }: Pick<BuildValues, "controllers" | "external">,
  host: Host,
): Promise<readonly ModuleEntry[] | undefined> {
  if (external) return undefined;
  const modules = findModules(controllers);
  const { problems } = await loadModules(controllers, host, { sources: { env: host.env, places: [] } });
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return modules;
}

/** The cache of runtimes for other machines, and of this program built for them. */
export function runtimeCache({ env }: Pick<Host, "env">): string {
  return join(cacheFolder(env), "runtimes");
}

/** The code of this program by file name. @throws UserError */
export async function programOf(host: Pick<Host, "embedded" | "env">): Promise<ReadonlyMap<string, string>> {
  const folder = await sdkFolder(host);
  if (folder === undefined) throw new UserError("Cannot build: this binnacle was built without its own code");
  const code = join(folder, "node_modules", "binnacle");
  const files = (await readdir(code, { recursive: true })).filter((name) => name.endsWith(".js")).sort();
  return new Map(
    await Promise.all(files.map(async (name) => [name, await readFile(join(code, name), "utf8")] as const)),
  );
}

/**
 * The file with the order in which this program uses its bytecode, which a release carries. Functions are identified by
 * their content, and nine in ten are the same in a binary that is built from it.
 */
export async function orderOf(host: Pick<Host, "embedded" | "env">): Promise<string | undefined> {
  const folder = await sdkFolder(host);
  const file = folder && join(folder, "node_modules", "binnacle", BYTECODE_ORDER);
  return file !== undefined && existsSync(file) ? file : undefined;
}

export interface BinaryOptions {
  readonly host: Host;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** The path of this program for a target, without modules. It is built once for each version of this program. */
export async function binaryFor(target: Target, { host, progress, signal }: BinaryOptions): Promise<string> {
  if (target === hostTarget()) return process.execPath;
  const [program, order] = [await programOf(host), await orderOf(host)];
  const cache = runtimeCache(host);
  const laidOut = order === undefined ? "" : "-ordered";
  const output = join(cache, `binnacle-${target.name}-${digestOf(program, host.embedded.version)}${laidOut}`);
  const stats = await stat(output).catch(() => undefined);
  if (stats !== undefined) await markUsed(output);
  else {
    progress.begin(`Building binnacle for ${target.name}`);
    const { version } = host.embedded;
    await buildExecutable({ target, program, order, version, operator: undefined, offered: {}, output, cache, signal });
  }
  return output;
}

function digestOf(program: ReadonlyMap<string, string>, version: string): string {
  return createHash("sha256")
    .update(JSON.stringify([version, ...program]))
    .digest("hex")
    .slice(0, 16);
}
