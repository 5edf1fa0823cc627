/**
 * `node scripts/setup.mjs TASK [ARGUMENTS]`: brings Bun and the dependencies when they are not there or not current, then
 * runs scripts/TASK.ts with Bun. Plain JavaScript without dependencies, because it runs before any of them is there; it
 * runs on Node and on Bun.
 */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tasks = ["start", "test", "build"];
const stamp = join(root, "node_modules", ".installed");
const [task, ...args] = process.argv.slice(2);

try {
  if (!tasks.includes(task)) fail(`Cannot run "${task}": there is ${tasks.join(", ")}`);
  await run(setUp(), [join(root, "scripts", `${task}.ts`), ...args]);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Installs what is missing and returns the Bun that runs the task. */
function setUp() {
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  const { version } = readJson(join(root, "package.json")).devDependencies.bun.match(
    /(?<version>\d+\.\d+\.\d+)/,
  ).groups;
  const state = createHash("sha256").update(`${lock} ${version} ${process.platform} ${process.arch}`).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === state) {
    const bun = bunIn(join(root, "node_modules"));
    if (bun) return bun;
  }
  const address = lock.split("\n").findIndex((line) => line.includes("://"));
  if (address >= 0)
    fail(`bun.lock:${address + 1} carries a download address: install with the public registry's defaults`);
  const bun = findBun(version);
  console.error("Installing dependencies");
  check(spawnSync(bun, ["install", "--frozen-lockfile"], { cwd: root, stdio: ["ignore", 2, 2] }), "bun install");
  writeFileSync(stamp, state);
  return bunIn(join(root, "node_modules")) ?? bun;
}

/** Bun of exactly this version: the one that runs us, the one on PATH, or one that npm brings into the cache. */
function findBun(version) {
  if (process.versions.bun === version) return process.execPath;
  if (versionOf("bun") === version) return "bun";
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "binnacle", `bun-${version}`);
  const cached = bunIn(join(cache, "node_modules"));
  if (cached) return cached;
  console.error(`Installing Bun ${version}`);
  mkdirSync(cache, { recursive: true });
  const options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", cache];
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  check(
    spawnSync(npm, ["install", ...options, `bun@${version}`], { cwd: cache, stdio: ["ignore", 2, 2] }),
    "npm install",
  );
  return bunIn(join(cache, "node_modules")) ?? fail(`npm brought no Bun that runs here into ${cache}`);
}

/** The executable in a node_modules folder; the package for this machine where install scripts are switched off. */
function bunIn(modules) {
  const main = join(modules, "bun", "bin", "bun.exe");
  if (existsSync(main) && isProgram(main)) return main;
  const scope = join(modules, "@oven");
  const builds = existsSync(scope) ? readdirSync(scope).sort((a, b) => a.length - b.length) : [];
  return builds.map((build) => join(scope, build, "bin", "bun")).find((bun) => existsSync(bun) && versionOf(bun));
}

/** What stands there until the package's install script ran is a small text. */
function isProgram(file) {
  return statSync(file).size > 1_000_000;
}

function versionOf(bun) {
  const { status, stdout } = spawnSync(bun, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function check({ status, error }, what) {
  if (error) fail(`Cannot run ${what}: ${error.message}`);
  if (status !== 0) fail(`${what} ended with ${status}: see above`);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function fail(message) {
  throw new Error(message);
}

/** A terminal sends Ctrl-C to both processes; a signal sent to this one alone is passed on. Either way Bun decides when to end. */
function run(bun, argv) {
  const child = spawn(bun, argv, { stdio: "inherit" });
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
      resolve();
    });
  });
}
