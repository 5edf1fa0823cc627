/** Which test files share a process, and in which order the processes begin, so that a run of all of them is short. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that one `bun test` runs, relative to the checkout. */
export type Job = readonly string[];

/** The files that take longest, the longest first: one that began last would be waited for alone. */
const longest = [
  "scripts/differential/differential.test.ts",
  "scripts/acceptance/high-availability.test.ts",
  "scripts/workloads/workloads.test.ts",
  "scripts/acceptance/election.test.ts",
  "scripts/acceptance/release.test.ts",
  "scripts/acceptance/soak.test.ts",
  "scripts/kubectl/kubectl.test.ts",
  "scripts/acceptance/election-cost.test.ts",
  "scripts/acceptance/build.test.ts",
  "scripts/acceptance/shards.test.ts",
  "src/election/shard-simulation.test.ts",
  "src/reconcile/by-hand.test.ts",
  "src/reconcile/children.test.ts",
  "scripts/acceptance/faults.test.ts",
  "scripts/acceptance/conversion.test.ts",
  "scripts/acceptance/user-tests.test.ts",
  "scripts/acceptance/refusals.test.ts",
  "scripts/acceptance/dev.test.ts",
  "scripts/acceptance/webhooks.test.ts",
  "src/reconcile/namesake.test.ts",
  "src/reconcile/status.test.ts",
];

/** A process costs 0.2 s, and takes along what all of these files need. */
const FILES_PER_PROCESS = 40;

/** What a file that starts servers or the binary imports. */
const STARTS_PROGRAMS = /from "[^"]*(tests\/support\/|controlplane\/|start-cluster)/;

/**
 * Divides files into jobs: one that starts programs, and so waits most of its time, has a process to itself; the rest share some.
 * The longest begin first.
 */
export function jobsOf(files: readonly string[], root: string): Job[] {
  const rank = new Map(longest.map((file, at) => [file, at]));
  const startsPrograms = (file: string): boolean =>
    file.startsWith("scripts/acceptance/") || STARTS_PROGRAMS.test(readFileSync(join(root, file), "utf8"));
  const alone = files
    .filter((file) => rank.has(file) || startsPrograms(file))
    .toSorted((a, b) => (rank.get(a) ?? longest.length) - (rank.get(b) ?? longest.length));
  const own = new Set(alone);
  const shared = files.filter((file) => !own.has(file));
  const jobs: Job[] = alone.map((file) => [file]);
  for (let at = 0; at < shared.length; at += FILES_PER_PROCESS) jobs.push(shared.slice(at, at + FILES_PER_PROCESS));
  return jobs;
}

/** Runs work over all jobs, in their order, so many at a time. @returns the results, in the order of the jobs */
export async function inParallel<R>(
  jobs: readonly Job[],
  limit: number,
  work: (job: Job) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < jobs.length; at = next++) results[at] = await work(jobs[at]!);
  };
  await Promise.all(Array.from({ length: limit }, lane));
  return results;
}
