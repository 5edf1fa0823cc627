/**
 * Makes a release of the commit that is checked out: `npm run release -- [OPTIONS]`. CONTRIBUTING.md says how one is cut. It is made in
 * a tree of its own, of the packages that the lock file names.
 *
 *     --target NAME           such as linux-arm64-musl; repeatable; all of them when left out
 *     --output DIR            the folder of all releases (dist/release)
 *     --address URL           where that folder will be, which the installer is told
 *     --key FILE              a private key in PEM, Ed25519 or of an elliptic curve, to sign the provenance with
 *     --builder URI           who vouches for this machine, for the provenance
 *     --bytecode-order FILE   the order of a release that is made again; repeatable; recorded when left out
 *     --snapshot              also from a tree without a version tag, or with changes
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseTarget, type Target, targets as all } from "../src/build/executable/targets.ts";
import { bunOf, freshTree } from "./release/fresh-tree.ts";
import type { TreeOptions } from "./release/in-tree.ts";
import { versionOf } from "./release/version.ts";

const root = join(import.meta.dirname, "..");

/** What is wrong with the command line. */
class Usage extends Error {}

const usage = {
  target: { type: "string", multiple: true },
  output: { type: "string", default: join(root, "dist", "release") },
  address: { type: "string" },
  key: { type: "string" },
  builder: { type: "string" },
  "bytecode-order": { type: "string", multiple: true },
  snapshot: { type: "boolean", default: false },
} as const;

async function main(): Promise<void> {
  const values = valuesOf(process.argv.slice(2));
  const targets = values.target === undefined ? all : values.target.map(targetOf);
  if (values.key !== undefined) existing(values.key, "--key");
  for (const order of values["bytecode-order"] ?? []) existing(order, "--bytecode-order");
  const address = addressOf(values.address);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  if (!values.snapshot) refuseUnreleased(versionOf(root), version);
  const start = performance.now();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const work = await mkdtemp(join(tmpdir(), "binnacle-release-"));
  try {
    const tree = join(work, "tree");
    await freshTree(root, { tree, cache: join(work, "packages") });
    const aside = join(work, "aside");
    await mkdir(aside);
    const options: TreeOptions = {
      targets: targets.map(({ name }) => name),
      output: resolve(values.output),
      work: aside,
      address,
      key: values.key && resolve(values.key),
      builder: values.builder,
      orders: values["bytecode-order"]?.map((file) => resolve(file)),
    };
    process.exitCode = await releaseIn(tree, options, stop.signal);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  if (process.exitCode !== 0) return;
  const unsigned = values.key === undefined ? "; the provenance is not signed, because no --key was given" : "";
  console.log(`Released in ${((performance.now() - start) / 1000).toFixed(0)} s${unsigned}`);
}

/** Lets the tree's own runtime release the tree. @returns the exit status. */
async function releaseIn(tree: string, options: TreeOptions, signal: AbortSignal): Promise<number> {
  const program = join(tree, "scripts", "release", "in-tree.ts");
  const child = spawn(bunOf(tree), [program, JSON.stringify(options)], { cwd: tree, stdio: "inherit" });
  // That process decides when to end, and this one removes the tree after it.
  signal.addEventListener("abort", () => child.kill());
  return new Promise((done, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => done(code ?? 1));
  });
}

/** @throws Error where the version does not follow from a tag, or package.json says another one. */
function refuseUnreleased(version: string, manifest: string): void {
  if (/[+]|-dev\./.test(version)) {
    throw new Error(
      `Cannot release ${version}: the tree is not that of a version tag; commit, tag the commit, such as 'v${manifest}', or pass --snapshot`,
    );
  }
  if (version !== manifest) {
    throw new Error(`Cannot release ${version}, as the tag says: package.json says ${manifest}; change one of them`);
  }
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: usage, allowPositionals: false }).values;
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error));
  }
}

function targetOf(text: string): Target {
  const target = parseTarget(text);
  if (target !== undefined) return target;
  throw new Usage(`--target is '${text}': expected ${all.map(({ name }) => name).join(", ")}`);
}

function existing(file: string, option: string): void {
  if (!existsSync(file)) throw new Usage(`${option} is '${file}': there is no such file`);
}

/** It becomes a part of a shell script. */
function addressOf(text: string | undefined): string | undefined {
  if (text === undefined || /^https?:\/\/[\w.:/~%@-]+$/.test(text)) return text;
  throw new Usage(`--address is '${text}': expected one that begins with https://`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = error instanceof Usage ? 2 : 1;
  }
}
