/**
 * Makes a release of the tree that this file is in, for `scripts/release.ts`, which has made the tree:
 * `bun scripts/release/in-tree.ts OPTIONS`, with the options as JSON.
 */
import { copyFileSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runtimeFor } from "../../src/build/executable/runtime.ts";
import { hostTarget, targets as all } from "../../src/build/executable/targets.ts";
import { compile } from "../build.ts";
import { bytecodeOrder } from "../bytecode-order.ts";
import { packOrder, packSdk } from "../pack-sdk.ts";
import { binaryName, packagesInside } from "./contents.ts";
import { makeRelease } from "./make.ts";
import { sourceOf, versionOf } from "./version.ts";

const root = join(import.meta.dirname, "..", "..");

export interface TreeOptions {
  /** The names of the targets. */
  readonly targets: readonly string[];
  /** The folder of all releases. */
  readonly output: string;
  /** An empty folder for what is needed on the way. */
  readonly work: string;
  readonly address?: string | undefined;
  /** A file. */
  readonly key?: string | undefined;
  readonly builder?: string | undefined;
  /** Files; recorded where there are none given. */
  readonly orders?: readonly string[] | undefined;
}

async function release(options: TreeOptions): Promise<void> {
  const { output, work, address, key, builder } = options;
  const version = versionOf(root);
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly repository?: string;
  };
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stop.abort(new Error("Stopped, and nothing has been released")));
  }
  await mkdir(join(root, "dist"), { recursive: true });
  await packSdk();
  const orders = options.orders ?? (await recordedOrders(work, version));
  if (orders[0] !== undefined) await packOrder(orders[0]);
  const folder = await makeRelease({
    version,
    source: sourceOf(root),
    targets: all.filter(({ name }) => options.targets.includes(name)),
    packages: await packagesInside(),
    output,
    address,
    key: key === undefined ? undefined : readFileSync(key, "utf8"),
    builder,
    repository,
    orders,
    executableFor: async (target, aside) => {
      const outfile = join(aside, binaryName(target));
      // A folder of its own, because a runtime that is kept elsewhere is not compared with its hash any more.
      const path = await runtimeFor(target, { cache: join(work, "runtimes"), signal: stop.signal });
      compile(outfile, { version, orders, runtime: { path, target: target.name } });
      return outfile;
    },
    say: (line) => console.log(line),
    signal: stop.signal,
  }).catch((error: unknown) => {
    // Whatever failed after the signal failed because of it.
    stop.signal.throwIfAborted();
    throw error;
  });
  console.log(folder);
}

/** The order in which a rehearsal on this machine uses the bytecode, for all targets. */
async function recordedOrders(work: string, version: string): Promise<readonly string[]> {
  if (hostTarget() === undefined) return [];
  const trial = join(work, "binnacle");
  compile(trial, { version });
  const recorded = await bytecodeOrder(trial, work);
  return recorded.map((file) => {
    const named = join(work, `bytecode-${file.split(/[/\\]/).at(-1)!}`);
    copyFileSync(file, named);
    return named;
  });
}

if (import.meta.main) {
  try {
    await release(JSON.parse(process.argv[2]!) as TreeOptions);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
