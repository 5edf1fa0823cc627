/** Runs of test files, and the one rule of every step for those that fail: they are run once more, each of them alone. */

import { inParallel, type Job } from "./test-jobs.ts";
import type { Counts, FileReport } from "./test-report.ts";

/** What a process reports of the files it ran. */
export interface Result {
  readonly files: readonly FileReport[];
  /** Files that could not be loaded, or ended their process: the report lacks them, or does not say what failed. */
  readonly lost: readonly string[];
}

/** What counts of a step. */
export interface Outcome extends Result {
  /** Tests that failed at first and passed when their file was run again, each with its file. */
  readonly unsteady: readonly string[];
}

/** What there is to say about a file that a process has lost. */
export const LOST = "it cannot be loaded, or it ended before its report";

/** With more failing files than this nothing is run again: that is no machine that was too busy for a moment. */
const MOST_RUN_AGAIN = 6;

/**
 * Runs jobs, so many at a time, and then what failed once more, one after the other: a machine that is too busy for a moment must
 * not fail thousands of tests, and what passes only then is named. The second run of a file is the one that counts.
 *
 * @param again runs one file that failed, or the files that one process has lost; without it nothing is run again
 */
export async function runSteadily(jobs: readonly Job[], { run, again, limit = 1 }: RunOptions): Promise<Outcome> {
  const results = await inParallel(jobs, limit, run);
  const first = joined(results);
  const repeated: Job[] = [
    ...first.files.filter(({ failed }) => failed > 0).map(({ file }) => [file]),
    ...results.map(({ lost }) => lost).filter((lost) => lost.length > 0),
  ];
  if (again === undefined || repeated.length === 0 || repeated.length > MOST_RUN_AGAIN) {
    return { ...first, unsteady: [] };
  }
  console.log(`── again, alone: ${repeated.flat().join(", ")}`);
  const repeats: Result[] = [];
  for (const job of repeated) repeats.push(await again(job));
  const second = joined(repeats);
  const reports = new Map(second.files.map((report) => [report.file, report]));
  const repeatedFiles = new Set([...reports.keys(), ...second.lost]);
  return {
    files: [...first.files.filter(({ file }) => !repeatedFiles.has(file)), ...second.files],
    lost: second.lost,
    unsteady: [
      ...first.files.flatMap(({ file, failures }) => {
        const now = second.lost.includes(file) ? undefined : reports.get(file);
        return failures.filter((name) => now?.failures.includes(name) === false).map((name) => `${file}: ${name}`);
      }),
      ...first.lost
        .filter((file) => !second.lost.includes(file) && reports.get(file)?.failed === 0)
        .map((file) => `${file}: ${LOST}`),
    ],
  };
}

/** How one process runs test files. */
export interface ProcessOptions {
  /** Of a test or a hook that names none, in milliseconds. */
  readonly timeout: number;
  /** Whether its output is printed in one piece, when it has ended. */
  readonly isQuiet: boolean;
}

/** How a step runs its test files. */
export interface TestsOptions {
  /** How many jobs run at once. @default 1 */
  readonly limit?: number;
  /** Of a test or a hook that names none, in milliseconds: hooks start control planes, which takes long on a busy machine. @default 120_000 */
  readonly timeout?: number;
  /** @default a process of `bun test` */
  readonly run?: (job: Job, options: ProcessOptions) => Promise<Result>;
  /** What takes place before each second run, such as a new beginning of what a failed test may have left something on. */
  readonly before?: () => Promise<void>;
}

/** Runs test files for a step, and counts them. */
export type Tests = (jobs: readonly Job[], options?: TestsOptions) => Promise<Counts>;

export interface RunOptions {
  readonly run: (job: Job) => Promise<Result>;
  readonly again?: ((job: Job) => Promise<Result>) | undefined;
  /** How many jobs run at once. @default 1 */
  readonly limit?: number | undefined;
}

function joined(results: readonly Result[]): Result {
  return { files: results.flatMap(({ files }) => files), lost: results.flatMap(({ lost }) => lost) };
}
