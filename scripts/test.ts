/**
 * Every check and test. `bun scripts/test.ts [STEP | PATTERN …]` runs only the steps named and the test files whose path contains
 * a pattern. The last line counts each test of `bun test`, and one for each other step.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { assets } from "./controlplane/controlplane.ts";
import { closingLine, type Counts, countsOf, one } from "./test-counts.ts";

const root = join(import.meta.dirname, "..");
const bun = process.execPath;
const isCi = /^(1|true)$/i.test(process.env.CI ?? "");

const tested = ["src", "scripts", "controllers"].filter((folder) => existsSync(join(root, folder)));

/** Acceptance tests that measure time: each has the machine to itself. */
const timed =
  "election-cost,faults,generated-children,high-availability,hostile-bodies,hostile-http2,many-kinds,outage,refusals,scale,shards,soak";

/** In the order in which a mistake is cheapest to find; the binary comes before the tests that run it. */
const steps: Readonly<Record<string, () => Promise<Counts>>> = {
  format: () => command(bun, ["fmt", "--check", "--no-script"]),
  lint: () => command(bun, [join(root, "node_modules", "oxlint", "bin", "oxlint")]),
  types: () => command(bun, ["check", "--no-script", "-p", "tsconfig.json"]),
  declarations: () => command(bun, ["check", "--no-script", "-p", "tsconfig.sdk.json"]),
  house: () => command(bun, ["scripts/check-house.ts"]),
  controlplane: controlPlane,
  build: () => command(bun, ["scripts/build.ts"]),
  smoke: () => command(bun, ["scripts/smoke.ts"]),
  tests: () =>
    tests([
      `--parallel=${Math.min(4, availableParallelism())}`,
      "--no-isolate", // isolated, a module graph gives the first state of a file again and again
      "--path-ignore-patterns=scripts/acceptance/**",
      ...tested,
    ]),
  acceptance: () =>
    tests([
      "--parallel=2",
      "--no-isolate",
      `--path-ignore-patterns=scripts/acceptance/{${timed}}.test.ts`,
      "scripts/acceptance",
    ]),
  timed: () => tests(timed.split(",").map((name) => `scripts/acceptance/${name}.test.ts`)),
};

const asked = process.argv.slice(2);
const patterns = asked.filter((name) => !(name in steps));
const files = patterns.flatMap((pattern) => {
  const found = testFiles().filter((file) => file.includes(pattern));
  if (found.length > 0) return found;
  console.error(`Cannot find a test file or a step for '${pattern}': the steps are ${Object.keys(steps).join(", ")}.`);
  return process.exit(2);
});
const wanted = new Set(asked.filter((name) => name in steps));
// Acceptance tests run the binary, so it has to be the one of these sources.
if (files.some((file) => file.startsWith("scripts/acceptance/"))) wanted.add("build");
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
/** Tests that were skipped while there was no control plane. */
let withoutControlPlane = 0;
for (const [name, step] of Object.entries(steps)) {
  if (asked.length === 0 || wanted.has(name)) await count(name, step);
}
if (files.length > 0) await count("tests", () => tests([...new Set(files)].map((file) => `./${file}`)));
process.exitCode = total.failed > 0 ? 1 : 0;
console.log(closingLine(total, { withoutControlPlane }));

async function count(name: string, step: () => Promise<Counts>): Promise<void> {
  const start = performance.now();
  console.log(`── ${name}`);
  const counts = await step();
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  console.log(
    `── ${name}: ${counts.failed > 0 ? "FAILED" : "ok"} in ${((performance.now() - start) / 1000).toFixed(1)} s\n`,
  );
}

/** Paths relative to the checkout, as a pattern on the command line would name them. */
function testFiles(): string[] {
  return tested.flatMap((folder) =>
    [...new Bun.Glob("**/*.test.ts").scanSync(join(root, folder))].map((file) => `${folder}/${file}`),
  );
}

async function command(path: string, args: readonly string[]): Promise<Counts> {
  return one((await run(path, args)) === 0 ? "passed" : "failed");
}

/** Built here, so that no test waits for it. */
async function controlPlane(): Promise<Counts> {
  try {
    const folder = await assets();
    if (folder) return one("passed");
    console.log("No Go on PATH and no KUBEBUILDER_ASSETS: tests that need a real API server are skipped.");
    return one(isCi ? "failed" : "skipped");
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
    return one("failed");
  }
}

async function tests(args: readonly string[]): Promise<Counts> {
  const dir = await mkdtemp(join(tmpdir(), "binnacle-tests-"));
  try {
    const report = join(dir, "report.xml");
    const status = await run(bun, [
      "test",
      "--no-orphans",
      "--timeout=30000", // hooks start control planes, which takes longer than usual on a busy machine
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...args,
    ]);
    if (!existsSync(report)) return one("failed");
    const counts = countsOf(await readFile(report, "utf8"));
    if (counts.skipped > 0 && (await assets().catch(() => undefined)) === undefined)
      withoutControlPlane += counts.skipped;
    return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function run(path: string, args: readonly string[]): Promise<number> {
  const child = spawn(path, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve, reject) => child.once("error", reject).once("exit", (code) => resolve(code ?? 1)));
}
