/**
 * Builds the one executable, dist/binnacle: `bun scripts/build.ts`. With `--deno` it is the one for Deno,
 * dist/binnacle-deno-compiled.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { bytecodeOrder } from "./bytecode-order.ts";
import { compileForDeno } from "./deno/compile.ts";
import { packOrder, packSdk } from "./pack-sdk.ts";
import { versionOf } from "./release/version.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

/** The executable. */
export const binary: string = join(dist, "binnacle");

/**
 * `--bytecode` alone would mean CommonJS; without `--splitting` a lazy import costs at start. Identifiers keep their names,
 * so that stack traces can be read: it costs 0.7 MB of the file and nothing at start.
 */
const options = [
  "--compile",
  "--minify-whitespace",
  "--minify-syntax",
  "--sourcemap",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--compile-autoload-package-json",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

/** The program, and the one of its other thread. */
const entries = ["main.ts", "manager/stall-thread.ts"].map((file) => join(root, "src", file));

/**
 * Packs what is embedded, compiles, and puts the result in place in one step, so that a running one is not disturbed.
 *
 * It compiles twice: the first executable is run, and the second has its bytecode laid out in the order in which that
 * run used it. Where the first cannot be run, it is the result, and a warning says why it starts a little slower.
 */
export async function build(): Promise<void> {
  await mkdir(dist, { recursive: true });
  await packSdk();
  const aside = await mkdtemp(join(dist, "build-"));
  try {
    const outfile = join(aside, "binnacle");
    const version = versionOf(root);
    compile(outfile, { version });
    const orders = await bytecodeOrder(outfile, aside).catch((error: unknown) => {
      console.warn("Cannot lay out the bytecode, because the executable could not be tried:", error);
      return [];
    });
    if (orders[0] !== undefined) {
      await packOrder(orders[0]);
      compile(outfile, { version, orders });
    }
    await rename(outfile, binary);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

export interface CompileOptions {
  readonly version: string;
  /** Files that say in which order the bytecode is laid out, the most important one first. @default as the bundler likes */
  readonly orders?: readonly string[];
  /** Another runtime than the one that runs this, and what it runs on, such as `linux-arm64-musl`. */
  readonly runtime?: { readonly path: string; readonly target: string };
}

/** Compiles the sources and what has been packed. @throws Error with what the compiler says. */
export function compile(outfile: string, { version, orders = [], runtime }: CompileOptions): void {
  const more = [
    `--define=BUILD_VERSION=${JSON.stringify(version)}`,
    ...(orders.length > 0 ? [`--bytecode-order=${orders.join(",")}`] : []),
    ...(runtime ? [`--target=bun-${runtime.target}`, `--compile-executable-path=${runtime.path}`] : []),
  ];
  const args = ["build", ...options, ...more, ...entries, "--outfile", outfile];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (status !== 0 || !existsSync(outfile)) throw new Error(`Cannot build ${basename(outfile)}:\n${stdout}${stderr}`);
}

/** Whether dist/binnacle is there and no source has changed since. */
export function isBuilt(): boolean {
  if (!existsSync(binary)) return false;
  const built = statSync(binary).mtimeMs;
  const folders = ["src", "packages", "scripts"].flatMap((folder) => {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return files.map((file) => join(folder, file));
  });
  const sources = folders.filter(
    (file) =>
      /^src\/|^packages\/[^/]+\/src\/|^scripts\/(build|bytecode-order|pack-sdk|release\/version)\.ts$/.test(file) &&
      !file.endsWith(".test.ts"),
  );
  return [...sources, "package.json", "bun.lock"].every((file) => statSync(join(root, file)).mtimeMs < built);
}

if (import.meta.main) {
  const start = performance.now();
  const [flag, ...more] = process.argv.slice(2);
  if ((flag !== undefined && flag !== "--deno") || more.length > 0) {
    console.error("Cannot build: the only argument is --deno");
    process.exit(2);
  }
  try {
    if (flag !== "--deno") await build();
    const file = flag === "--deno" ? compileForDeno() : binary;
    const { size } = await stat(file);
    console.log(
      `${relative(root, file)}: ${(size / 2 ** 20).toFixed(1)} MiB in ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
