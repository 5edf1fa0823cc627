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
import { denoTests } from "./deno/step.ts";
import { nodeTests } from "./node/step.ts";
import { inParallel, type Job, jobsOf } from "./test-jobs.ts";
import { closingLine, type Counts, type FileReport, filesOf, one, sum } from "./test-report.ts";

const root = join(import.meta.dirname, "..");
const bun = process.execPath;
const isCi = /^(1|true)$/i.test(process.env.CI ?? "");

const tested = ["src", "scripts", "controllers"].filter((folder) => existsSync(join(root, folder)));

/** Acceptance tests that measure time or use a lot of it: at most two run at once. */
const timed =
  "faults,generated-children,high-availability,hostile-bodies,hostile-http2,many-kinds,outage,refusals,scale,shards,soak";

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
    tests(
      jobsOf(
        testFiles().filter((file) => !file.startsWith("scripts/node/") && !timedFiles().includes(file)),
        root,
      ),
      { limit: availableParallelism() + 1 }, // most of the time of the long ones is waiting
    ),
  timed: () =>
    tests(
      timedFiles().map((file) => [file]),
      { limit: 2 },
    ),
  deno: () =>
    denoTests((files) =>
      tests(
        files.map((file) => [file]),
        { limit: 2, timeout: 60_000 },
      ),
    ),
};

/** Run by their names alone. */
const more: typeof steps = {
  node: () => nodeTests(() => tests(shows(), { timeout: 180_000 })),
};

const asked = process.argv.slice(2);
const patterns = asked.filter((name) => !(name in steps || name in more));
const files = patterns.flatMap((pattern) => {
  const found = testFiles().filter((file) => file.includes(pattern));
  if (found.length > 0) return found;
  const names = Object.keys({ ...steps, ...more }).join(", ");
  console.error(`Cannot find a test file or a step for '${pattern}': the steps are ${names}.`);
  return process.exit(2);
});
const wanted = new Set(asked.filter((name) => name in steps || name in more));
// Acceptance tests run the binary, so it has to be the one of these sources.
if (files.some((file) => /^scripts\/(acceptance|node)\//.test(file))) wanted.add("build");
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
/** What failed for good, and what passed the second time, each with its file. */
const failures: string[] = [];
const unsteady: string[] = [];
const slowest: FileReport[] = [];
/** Tests that were skipped while there was no control plane. */
let withoutControlPlane = 0;
for (const [name, step] of Object.entries(steps)) {
  if (asked.length === 0 || wanted.has(name)) await count(name, step);
}
for (const [name, step] of Object.entries(more)) {
  if (wanted.has(name)) await count(name, step);
}
if (files.length > 0) await count("tests", () => tests([[...new Set(files)]]));
if (slowest.length > 0) console.log(`The slowest files: ${slowestFiles(12)}`);
for (const line of unsteady) console.log(`passed only when its file was run again, alone: ${line}`);
for (const line of failures) console.log(`failed: ${line}`);
process.exitCode = total.failed > 0 ? 1 : 0;
console.log(closingLine(total, { withoutControlPlane }));

async function count(name: string, step: () => Promise<Counts>): Promise<void> {
  const start = performance.now();
  console.log(`── ${name}`);
  const named = failures.length;
  const counts = await step();
  if (counts.failed > 0 && failures.length === named) failures.push(`the step ${name}`);
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

/** What is deployed on one node, and then what breaks that node. */
function shows(): readonly Job[] {
  const files = testFiles().filter((file) => file.startsWith("scripts/node/shows/"));
  const isTrial = (file: string): boolean => file.endsWith("/chaos.test.ts");
  return [files.filter((file) => !isTrial(file)), files.filter(isTrial)];
}

function timedFiles(): string[] {
  return timed.split(",").map((name) => `scripts/acceptance/${name}.test.ts`);
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

/**
 * Runs each job in a process of its own. Files that fail in a run of everything are run once more, alone: a machine that is too busy
 * for a moment must not fail thousands of tests, and what passes only then is named at the end. Many failing files are no such moment.
 */
async function tests(jobs: readonly Job[], { limit = 1, timeout = 30_000 }: HowToRun = {}): Promise<Counts> {
  const results = await inParallel(jobs, limit, (job) =>
    runTests(job, { timeout, isQuiet: limit > 1 && jobs.length > 1 }),
  );
  const files = results.flatMap((result) => result.files);
  slowest.push(...files);
  const { skipped } = sum(files);
  if (skipped > 0 && (await assets().catch(() => undefined)) === undefined) withoutControlPlane += skipped;
  const lost = results.flatMap(({ lost }) => lost);
  const repeated = [...files.filter(({ failed }) => failed > 0).map(({ file }) => file), ...lost];
  if (asked.length > 0 || repeated.length === 0 || repeated.length > 6)
    return sum([reported(files), ...lost.map(notRun)]);
  console.log(`── again, alone: ${repeated.join(", ")}`);
  const again: Result[] = [];
  for (const file of repeated) again.push(await runTests([file], { timeout, isQuiet: false }));
  const second = new Map(again.flatMap((result) => result.files).map((file) => [file.file, file]));
  const first = new Set(files.map(({ file }) => file));
  const found = [...second.values()].filter(({ file }) => !first.has(file));
  return sum([
    reported([...files.map((file) => settled(file, second.get(file.file))), ...found]),
    ...again.flatMap((result) => result.lost).map(notRun),
  ]);
}

interface HowToRun {
  /** How many jobs run at once. @default 1 */
  readonly limit?: number;
  /** Of a test or a hook that names none, in milliseconds: hooks start control planes, which takes long on a busy machine. @default 30_000 */
  readonly timeout?: number;
}

function notRun(file: string): Counts {
  failures.push(`${file}: it cannot be loaded, or it ended before its report`);
  return one("failed");
}

/** What counts of a file that was run twice: its second run, unless that did not take place. */
function settled(first: FileReport, again: FileReport | undefined): FileReport {
  if (again === undefined || first.failed === 0) return first;
  const steady = new Set(again.failures);
  unsteady.push(...first.failures.filter((name) => !steady.has(name)).map((name) => `${first.file}: ${name}`));
  return again;
}

function reported(files: readonly FileReport[]): Counts {
  failures.push(...files.flatMap(({ file, failures: names }) => names.map((name) => `${file}: ${name}`)));
  return sum(files);
}

interface Result {
  readonly files: readonly FileReport[];
  /** Files that could not be loaded, or ended their process: the report lacks them, or does not say what failed. */
  readonly lost: readonly string[];
}

/** Runs files in one process. @param isQuiet whether its output is printed in one piece, when it has ended */
async function runTests(
  job: Job,
  { timeout, isQuiet }: { readonly timeout: number; readonly isQuiet: boolean },
): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), "binnacle-tests-"));
  try {
    const report = join(dir, "report.xml");
    const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
    const paths = job.map((file) => `./${file}`);
    const status = await run(bun, ["test", "--no-orphans", `--timeout=${timeout}`, ...reporter, ...paths], isQuiet);
    const files = existsSync(report) ? filesOf(await readFile(report, "utf8")) : [];
    if (status === 0) return { files, lost: [] };
    const known = new Set(files.map(({ file }) => file));
    const unknown = job.filter((file) => !known.has(file));
    const isExplained = unknown.length > 0 || files.some(({ failed }) => failed > 0);
    return { files, lost: isExplained ? unknown : job };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function slowestFiles(count: number): string {
  const sorted = slowest.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
  return sorted.map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`).join(", ");
}

function run(path: string, args: readonly string[], isQuiet = false): Promise<number> {
  const output: Buffer[] = [];
  const child = spawn(path, args, {
    cwd: root,
    stdio: ["ignore", ...Array<"pipe" | "inherit">(2).fill(isQuiet ? "pipe" : "inherit")],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => output.push(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject).once("close", (code) => {
    process.stdout.write(Buffer.concat(output));
    resolve(code ?? 1);
  });
  return promise;
}
