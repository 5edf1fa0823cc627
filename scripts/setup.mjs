/**
 * `node scripts/setup.mjs TASK [ARGUMENTS]`: brings Bun and the dependencies when they are not there or not current, then
 * runs scripts/TASK.ts with Bun. Plain JavaScript without dependencies, because it runs before any of them is there; it
 * runs on Node and on Bun.
 */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tasks = ["start", "test", "build", "release"];
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
  const bun = findBun(version, lock);
  console.error("Installing dependencies");
  // Scripts of packages may fetch what the lock file says nothing of; the only one that is needed is done here.
  const args = ["install", "--frozen-lockfile", "--ignore-scripts"];
  check(spawnSync(bun, args, { cwd: root, stdio: ["ignore", 2, 2] }), "bun install");
  linkBun(join(root, "node_modules"));
  writeFileSync(stamp, state);
  return bunIn(join(root, "node_modules")) ?? bun;
}

/** Bun of exactly this version: the one that runs us, the one on PATH, or the one whose hash is in the lock file. */
function findBun(version, lock) {
  if (process.versions.bun === version) return process.execPath;
  if (versionOf("bun") === version) return "bun";
  console.error(`Installing Bun ${version}`);
  const { name, hash } = buildFor(version, lock);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "binnacle", `bun-${version}`);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const own = mkdtempSync(join(cache, "npm-"));
  try {
    const bun = join(own, process.platform === "win32" ? "bun.exe" : "bun");
    writeFileSync(bun, unpackBun(bring(`${name}@${version}`, { hash, into: own })), { mode: 0o755 });
    if (versionOf(bun) !== version) fail(`Cannot install Bun: ${name}@${version} does not run here`);
    const kept = join(cache, basename(bun));
    renameSync(bun, kept);
    return kept;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** The package with Bun's executable for this machine, and its hash, as the lock file has them. */
function buildFor(version, lock) {
  const entry =
    /^\s*"(?<name>@oven\/bun-[^"]+)": \["(?<id>[^"]+)", "[^"]*", (?<about>\{.*\}), "(?<hash>sha512-[^"]+)"\]/;
  const libc =
    process.platform === "linux"
      ? process.report.getReport().header.glibcVersionRuntime
        ? "glibc"
        : "musl"
      : undefined;
  for (const line of lock.split("\n")) {
    const { name, id, about, hash } = entry.exec(line)?.groups ?? {};
    if (name === undefined || id !== `${name}@${version}`) continue;
    const made = JSON.parse(about);
    if (made.os === process.platform && made.cpu === process.arch && (made.libc === undefined || made.libc === libc))
      return { name, hash };
  }
  return fail(`Cannot install Bun: bun.lock has no build of ${version} for ${process.platform} on ${process.arch}`);
}

/** Lets npm fetch the archive of a package, and compares it with the hash: nothing of it has been run by then. */
function bring(id, { hash, into }) {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const args = ["pack", "--ignore-scripts", "--loglevel=error", id];
  check(spawnSync(npm, args, { cwd: into, stdio: ["ignore", "ignore", 2], shell: npm === "npm.cmd" }), "npm pack");
  const file = readdirSync(into).find((one) => one.endsWith(".tgz"));
  const archive = file ? readFileSync(join(into, file)) : fail(`Cannot install Bun: npm brought nothing for ${id}`);
  if (`sha512-${createHash("sha512").update(archive).digest("base64")}` !== hash)
    fail(`Cannot install Bun: what npm brought for ${id} has not the hash in bun.lock`);
  return archive;
}

/** The executable in an archive of npm's: tar, blocks of 512 bytes, behind gzip. */
function unpackBun(archive) {
  const tar = gunzipSync(archive);
  const text = (from, length) => tar.toString("latin1", from, from + length).split("\0")[0];
  for (let at = 0; at + 512 <= tar.length && text(at, 100) !== "";) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    if (/^package\/bin\/bun(\.exe)?$/.test(text(at, 100))) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return fail("Cannot install Bun: there is none in its package");
}

/** What the package's own script would do: the executable for this machine in the place of a text. */
function linkBun(modules) {
  const bun = bunIn(modules);
  const bin = join(modules, "bun", "bin");
  const main = join(bin, "bun.exe");
  if (!bun || bun === main || !existsSync(bin)) return;
  for (const name of ["bun.exe", "bunx.exe"]) {
    rmSync(join(bin, name), { force: true });
    linkSync(bun, join(bin, name));
  }
}

/** The executable in a node_modules folder: in its place, or still in the package for this machine. */
function bunIn(modules) {
  const main = join(modules, "bun", "bin", "bun.exe");
  if (existsSync(main) && isProgram(main)) return main;
  const scope = join(modules, "@oven");
  const builds = existsSync(scope) ? readdirSync(scope).sort((a, b) => a.length - b.length) : [];
  return builds.map((build) => join(scope, build, "bin", "bun")).find((bun) => existsSync(bun) && versionOf(bun));
}

/** What stands there at first is a small text. */
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
