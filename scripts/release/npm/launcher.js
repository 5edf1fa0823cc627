#!/usr/bin/env node
/**
 * What npm links as `binnacle`: runs the executable of the package for this machine, which is an optional dependency. Nothing is
 * downloaded and no install script is needed. It runs on Node and on Bun, without dependencies of its own.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const file = executable();
if (file !== undefined) run(file);

/** @returns the path; undefined after saying why there is none. */
function executable() {
  const { optionalDependencies = {} } = createRequire(import.meta.url)("../package.json");
  const names = candidates().filter((name) => name in optionalDependencies);
  if (names.length === 0) {
    const built = Object.keys(optionalDependencies).map((name) => name.slice(name.indexOf("/") + 1));
    return fail(`Nothing is built for ${process.platform}-${process.arch}: there is ${built.join(", ")}`);
  }
  // From the real place of this file, beside which every package manager puts the dependencies of its package.
  const { resolve } = createRequire(import.meta.url);
  for (const name of names) {
    try {
      return resolve(`${name}/bin/binnacle${process.platform === "win32" ? ".exe" : ""}`);
    } catch {
      // It is not installed; the next one may be.
    }
  }
  return fail(
    `Cannot find the executable: the package ${names[0]} is not installed, which is an optional dependency of binnacle; ` +
      "install again on this kind of machine, without --omit=optional or its like",
  );
}

/** Packages that may run here, the best one first. */
function candidates() {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const own = `@binnacle/${os}-${process.arch}`;
  if (os === "windows") return process.arch === "arm64" ? [own, "@binnacle/windows-x64"] : [own];
  if (os !== "linux") return [own];
  return isMusl() ? [`${own}-musl`] : [own];
}

function isMusl() {
  const { report } = process;
  if (report === undefined) return false;
  report.excludeNetwork = true; // looking up the names of addresses can take seconds
  return report.getReport().header.glibcVersionRuntime === undefined;
}

/**
 * Waits for the executable, and ends as it does. Every signal is passed on. The executable takes one that reached the whole process
 * group, and so comes to it twice, as one.
 */
function run(path) {
  const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
  if (process.platform === "win32") {
    // A console tells both processes of its keys, and passing a signal on would end the executable at once.
    process.on("SIGINT", () => {});
  } else {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"])
      process.on(signal, () => child.kill(signal));
  }
  child.once("error", (error) => fail(`Cannot run ${path}: ${error.message}`));
  child.once("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // A signal that does not end this process is told by the status that shells give it.
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 100);
  });
}

function fail(message) {
  process.stderr.write(`binnacle: ${message}\n`);
  process.exitCode = 1;
}
