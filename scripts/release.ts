/**
 * Makes a release of the commit that is checked out: `npm run release -- [OPTIONS]`. CONTRIBUTING.md says how one is cut.
 *
 *     --target NAME           such as linux-arm64-musl; repeatable; all of them when left out
 *     --output DIR            the folder of all releases (dist/release)
 *     --address URL           where that folder will be, which the installer is told
 *     --key FILE              a private key in PEM, Ed25519 or of an elliptic curve, to sign the provenance with
 *     --builder URI           who vouches for this machine, for the provenance
 *     --bytecode-order FILE   the order of a release that is made again; repeatable; recorded when left out
 *     --snapshot              also from a tree without a version tag, or with changes
 */
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runtimeFor } from "../src/build/executable/runtime.ts";
import { hostTarget, parseTarget, type Target, targets as all } from "../src/build/executable/targets.ts";
import { cacheFolder } from "../src/platform/unpack.ts";
import { compile } from "./build.ts";
import { bytecodeOrder } from "./bytecode-order.ts";
import { packOrder, packSdk } from "./pack-sdk.ts";
import { binaryName, packagesInside } from "./release/contents.ts";
import { makeRelease } from "./release/make.ts";
import { sourceOf, versionOf } from "./release/version.ts";

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
  const key = values.key === undefined ? undefined : textOf(values.key, "--key");
  for (const order of values["bytecode-order"] ?? []) textOf(order, "--bytecode-order");
  const address = addressOf(values.address);
  const version = versionOf(root);
  const source = sourceOf(root);
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly version: string;
    readonly repository?: string;
  };
  if (!values.snapshot) refuseUnreleased(version, manifest.version);
  const start = performance.now();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stop.abort(new Error("Stopped, and nothing has been released")));
  }
  const work = await mkdtemp(join(tmpdir(), "binnacle-release-"));
  try {
    await mkdir(join(root, "dist"), { recursive: true });
    await packSdk();
    const orders = await ordersFor(values["bytecode-order"], { version, work });
    if (orders[0] !== undefined) await packOrder(orders[0]);
    const folder = await makeRelease({
      version,
      source,
      targets: [...new Set(targets)],
      packages: await packagesInside(),
      output: resolve(values.output),
      address,
      key,
      builder: values.builder,
      repository: manifest.repository,
      orders,
      executableFor: async (target, aside) => {
        const outfile = join(aside, binaryName(target));
        const path = await runtimeFor(target, { cache: join(cacheFolder(process.env), "runtimes") });
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
    const unsigned = key === undefined ? "; the provenance is not signed, because no --key was given" : "";
    console.log(`${folder} in ${((performance.now() - start) / 1000).toFixed(0)} s${unsigned}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
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

/** The order in which a rehearsal on this machine uses the bytecode, for all targets. */
async function ordersFor(
  given: readonly string[] | undefined,
  { version, work }: { readonly version: string; readonly work: string },
): Promise<readonly string[]> {
  if (given !== undefined) return given.map((file) => resolve(file));
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

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: usage, allowPositionals: false }).values;
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error));
  }
}

function targetOf(text: string): Target {
  const found = parseTarget(text);
  if (found !== undefined) return found;
  throw new Usage(`--target is '${text}': expected ${all.map(({ name }) => name).join(", ")}`);
}

function textOf(file: string, option: string): string {
  if (!existsSync(file)) throw new Usage(`${option} is '${file}': there is no such file`);
  return readFileSync(file, "utf8");
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
