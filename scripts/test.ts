/**
 * Every check and test. `bun scripts/test.ts [STEP | PATTERN …]` runs only the steps named and the test files whose path contains
 * a pattern. Without arguments it leaves out the suites of what has not changed, unless `all` or CI asks for them. The last line
 * counts each test of `bun test`, and one for each other step.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { reportAdvisories } from "./advisories.ts";
import { assets } from "./controlplane/controlplane.ts";
import { denoTests } from "./deno/step.ts";
import { browserTests } from "../tests/dashboard/step.ts";
import { languageTests } from "../tests/languages/step.ts";
import { nodeTests } from "../tests/node/step.ts";
import { suiteTests } from "../tests/suites/step.ts";
import { suites } from "../tests/suites/suites.ts";
import { changedFiles, type Job, jobsOf, needsPrograms, selection, testFiles } from "./test-jobs.ts";
import { closingLine, type Counts, type FileReport, filesOf, one, sum } from "./test-report.ts";
import { LOST, type ProcessOptions, type Result, runSteadily, type TestsOptions } from "./test-runs.ts";

const root = join(import.meta.dirname, "..");
const bun = process.execPath;
/** Where a run leaves how long each file took, for the order of the next one. */
const secondsFile = join(root, "dist", "test-seconds.json");
const isCi = /^(1|true)$/i.test(process.env.CI ?? "");

// What each `eventually` waits for takes long on a busy machine.
process.env["BINNACLE_TEST_EVENTUALLY"] ??= "60s";

// Collecting garbage is a tenth of what the control planes take of a processor; where there is memory, they do it less often.
if (totalmem() >= 8 * 2 ** 30) process.env["GOGC"] ??= "300";

/** So many processes run tests at once: more than there are processors, because many tests wait most of the time. */
const LANES = availableParallelism() + 4;

/** In the order in which a mistake is cheapest to find; the binary comes before the tests that run it. */
const steps: Readonly<Record<string, () => Promise<Counts>>> = {
  format: () => command(bun, ["fmt", "--check", "--no-script"]),
  lint: () => command(bun, [join(root, "node_modules", "oxlint", "bin", "oxlint")]),
  types: () => command(bun, ["check", "--no-script", "-p", "tsconfig.json"]),
  declarations: () => command(bun, ["check", "--no-script", "-p", "tsconfig.sdk.json"]),
  house: () => command(bun, ["scripts/check-house.ts"]),
  advisories,
  controlplane: controlPlane,
  build: () => steadyCommand(bun, ["scripts/build.ts"]),
  smoke: () => steadyCommand(bun, ["scripts/smoke.ts"]),
  tests: () => tests(jobsOf(wantedFiles(), { root, seconds: lastSeconds() }), { limit: LANES }),
};

/** Run by their names alone. */
const more: typeof steps = {
  unit: () =>
    tests(
      jobsOf(
        files.filter((file) => !needsPrograms(file)),
        { root },
      ),
      { limit: LANES },
    ),
  browser: () => browserTests(files, { tests: (jobs) => tests(jobs, { timeout: 180_000 }), isCi }),
  deno: () => denoTests(tests),
  languages: () => languageTests(files, (jobs) => tests(jobs, { timeout: 600_000 })),
  node: () => nodeTests((anew) => tests(shows(), { timeout: 180_000, before: anew })),
  suites: () => suiteTests(tests, { names: suiteNames, all: isAll }),
};

/** Runs the suites of what has not changed, too. */
const ALL = "all";
const files = testFiles(root);
const isAll = process.argv.includes(ALL);
const requests = process.argv.slice(2).filter((name) => name !== ALL);
/** The suites that `suites NAME …` runs. */
const suiteNames = requests.includes("suites") ? requests.filter((name) => Object.hasOwn(suites, name)) : [];
const patterns = requests.filter((name) => !(name in steps || name in more || suiteNames.includes(name)));
const namedFiles = patterns.flatMap((pattern) => {
  const matching = files.filter((file) => file.includes(pattern));
  if (matching.length > 0) return matching;
  const names = Object.keys({ ...steps, ...more }).join(", ");
  console.error(`Cannot find a test file or a step for '${pattern}': the steps are ${names}.`);
  return process.exit(2);
});
const wanted = new Set(requests.filter((name) => name in steps || name in more));
// Acceptance tests run the binary, so it has to be the one of these sources.
if (namedFiles.some((file) => /^tests\/(acceptance|languages|monitoring|node|tracing)\//.test(file)))
  wanted.add("build");
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
/** What failed for good, and what passed the second time, each with its file. */
const failures: string[] = [];
const passedLater: string[] = [];
const slowest: FileReport[] = [];
/** Tests that were skipped while there was no control plane. */
let withoutControlPlane = 0;
for (const [name, step] of Object.entries(steps)) {
  if (requests.length === 0 || wanted.has(name)) await count(name, step);
}
for (const [name, step] of Object.entries(more)) {
  if (wanted.has(name)) await count(name, step);
}
if (namedFiles.length > 0) await count("tests", () => tests([[...new Set(namedFiles)]], { isNamed: true }));
if (slowest.length > 0) console.log(`The slowest files: ${slowestFiles(12)}`);
for (const line of passedLater) console.log(`passed only when it was run again, alone: ${line}`);
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

/** The files of the step `tests`: all but those of steps of their own, and suites that say nothing new. */
function wantedFiles(): readonly string[] {
  const candidates = files.filter((file) => !/^tests\/(dashboard|languages|node)\//.test(file));
  const changed = isCi || isAll ? undefined : changedFiles(root);
  if (changed === undefined) return candidates;
  const { wanted, unchanged } = selection(candidates, changed);
  if (unchanged.length > 0) {
    const names = [...new Set(unchanged.map((file) => file.split("/").slice(0, 2).join("/")))].join(" and ");
    console.log(
      `${names}: as on the main branch, so ${unchanged.length} files are left out; npm test -- ${ALL} runs them`,
    );
  }
  return wanted;
}

function lastSeconds(): ReadonlyMap<string, number> {
  if (!existsSync(secondsFile)) return new Map();
  return new Map(JSON.parse(readFileSync(secondsFile, "utf8")) as [string, number][]);
}

function keepSeconds(reports: readonly FileReport[]): void {
  mkdirSync(join(root, "dist"), { recursive: true });
  const seconds = new Map([...lastSeconds(), ...reports.map(({ file, seconds }) => [file, seconds] as const)]);
  writeFileSync(secondsFile, JSON.stringify([...seconds]));
}

/** What is deployed on one node, and then what breaks that node. */
function shows(): readonly Job[] {
  const shows = files.filter((file) => file.startsWith("tests/node/shows/"));
  const isTrial = (file: string): boolean => file.endsWith("/chaos.test.ts");
  return [...shows.filter((file) => !isTrial(file)), ...shows.filter(isTrial)].map((file) => [file]);
}

async function command(path: string, args: readonly string[]): Promise<Counts> {
  return one((await run(path, args)) === 0 ? "passed" : "failed");
}

/** A command that starts programs, which a machine can be too busy for: it may fail once. */
async function steadyCommand(path: string, args: readonly string[]): Promise<Counts> {
  const first = await command(path, args);
  if (first.failed === 0) return first;
  console.log(`── again: ${args.join(" ")}`);
  const second = await command(path, args);
  if (second.failed === 0) passedLater.push(args.join(" "));
  return second;
}

async function advisories(): Promise<Counts> {
  const { outcome, lines } = await reportAdvisories({ folder: root, env: process.env });
  for (const line of lines) console.log(line);
  return one(outcome);
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

/** Runs each job in a process of its own, and again what failed, unless it is a file that somebody named. */
async function tests(jobs: readonly Job[], options: HowToRun = {}): Promise<Counts> {
  const { limit = 1, timeout = 120_000, run = runTests, before, isNamed = false } = options;
  const isQuiet = limit > 1 && jobs.length > 1;
  const again = async (job: Job): Promise<Result> => {
    await before?.();
    return await run(job, { timeout, isQuiet: false });
  };
  const { files, lost, unsteady } = await runSteadily(jobs, {
    limit,
    run: (job) => run(job, { timeout, isQuiet }),
    ...(!isNamed && { again }),
  });
  slowest.push(...files);
  if (!isNamed) keepSeconds(files);
  passedLater.push(...unsteady);
  failures.push(...files.flatMap(({ file, failures: names }) => names.map((name) => `${file}: ${name}`)));
  failures.push(...lost.map((file) => `${file}: ${LOST}`));
  const counts = sum([...files, ...lost.map(() => one("failed"))]);
  if (counts.skipped > 0 && (await assets().catch(() => undefined)) === undefined)
    withoutControlPlane += counts.skipped;
  return counts;
}

interface HowToRun extends TestsOptions {
  /** Somebody asks for these files: their first run counts. @default false */
  readonly isNamed?: boolean;
}

/** Runs files in one process. @param isQuiet whether its output is printed in one piece, when it has ended */
async function runTests(job: Job, { timeout, isQuiet }: ProcessOptions): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), "binnacle-tests-"));
  // Files of one process use control planes one after the other.
  const env = { BINNACLE_TEST_PLANES: join(dir, "planes") };
  try {
    const report = join(dir, "report.xml");
    const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
    const paths = job.map((file) => `./${file}`);
    const status = await run(bun, ["test", "--no-orphans", `--timeout=${timeout}`, ...reporter, ...paths], {
      isQuiet,
      env,
    });
    const files = existsSync(report) ? filesOf(await readFile(report, "utf8")) : [];
    if (status === 0) return { files, lost: [] };
    const known = new Set(files.map(({ file }) => file));
    const unknown = job.filter((file) => !known.has(file));
    const isExplained = unknown.length > 0 || files.some(({ failed }) => failed > 0);
    return { files, lost: isExplained ? unknown : job };
  } finally {
    await removed(dir);
  }
}

/** Removes a folder into which programs may write that are about to end. */
async function removed(dir: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rm(dir, { recursive: true, force: true });
    } catch (error) {
      if (attempt === 50) throw error;
      await Bun.sleep(100);
    }
  }
}

function slowestFiles(count: number): string {
  const sorted = slowest.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
  return sorted.map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`).join(", ");
}

interface RunOptions {
  readonly isQuiet?: boolean;
  /** Beside the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

function run(path: string, args: readonly string[], { isQuiet = false, env }: RunOptions = {}): Promise<number> {
  const output: Buffer[] = [];
  const child = spawn(path, args, {
    cwd: root,
    env: { ...process.env, ...env },
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
