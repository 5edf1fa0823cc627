/** Which test files there are, which of them a run is about, which share a process, and in which order the processes begin. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that one `bun test` runs, relative to the checkout. */
export type Job = readonly string[];

const folders = ["src", "packages", "scripts", "tests", "controllers"];

/** Returns the test files of a checkout, relative to it. */
export function testFiles(root: string): string[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      [...new Bun.Glob("**/*.test.ts").scanSync(join(root, folder))].map((file) => `${folder}/${file}`),
    )
    .filter((file) => !file.includes("/node_modules/"));
}

/** Whether a file runs the executable, or needs a real control plane. All others together take less than a minute. */
export function needsPrograms(file: string): boolean {
  return needsServer(file) || /^tests\/(?!support\/)/.test(file);
}

/** Whether a file needs a real control plane. */
function needsServer(file: string): boolean {
  return file.endsWith(".server.test.ts");
}

/**
 * Suites that compare a part of the program with Kubernetes itself. They say nothing new while that part is as it was, so
 * `npm test` runs them only when it has changed; `npm test -- all` and CI always do.
 */
const suites: readonly { readonly files: RegExp; readonly subject: RegExp }[] = [
  { files: /^packages\/apiserver\//, subject: /^packages\/apiserver\// },
  { files: /^tests\/workloads\//, subject: /^(packages\/apiserver\/src|src\/cluster|tests\/workloads)\// },
];

/** Divides test files into those to run and those of suites whose subject has not changed. */
export function selection(
  files: readonly string[],
  changed: readonly string[],
): { readonly wanted: readonly string[]; readonly unchanged: readonly string[] } {
  const isUnchanged = (file: string): boolean =>
    suites.some((suite) => suite.files.test(file) && !changed.some((path) => suite.subject.test(path)));
  return { wanted: files.filter((file) => !isUnchanged(file)), unchanged: files.filter(isUnchanged) };
}

/**
 * Returns the files of a checkout that differ from its main branch: committed, in the working tree, or new. `undefined` where
 * git cannot tell, as in an archive of the sources.
 */
export function changedFiles(root: string): readonly string[] | undefined {
  const git = (...args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
    return status === 0 ? stdout.trim() : undefined;
  };
  for (const branch of ["origin/main", "main"]) {
    const base = git("merge-base", "HEAD", branch);
    if (base === undefined) continue;
    const lists = [git("diff", "--name-only", base), git("ls-files", "--others", "--exclude-standard")];
    return lists.flatMap((list) => list?.split("\n") ?? []).filter((file) => file !== "");
  }
  return undefined;
}

/** A process costs 0.2 s, and loads what all of its files import. */
const FILES_PER_PROCESS = 40;

/** So many files share a control plane, which is emptied after each of them: a start takes seconds of a processor. */
const FILES_PER_PLANE = 4;

/** Uses a control plane as it is: one with other flags is started for its file alone. */
const BORROWS = /\bCluster\.start\((\{ controllers: \w+ \})?\)|\blendPlane\(|\bLab\.start\(/;

/** Imports that start servers or the executable. */
const STARTS_PROGRAMS = /from "[^"]*(\/support\/|controlplane\/|start-cluster)/;

export interface JobsOptions {
  readonly root: string;
  /** How long files took the last time, in seconds. @default none is known */
  readonly seconds?: ReadonlyMap<string, number>;
}

/**
 * Divides files into jobs. A file that starts programs waits most of its time, so it has a process of its own, or shares it with
 * files of its folder that use the same control plane; the rest share some. The longest begin first, because one that began last
 * would be waited for alone.
 */
export function jobsOf(files: readonly string[], { root, seconds = new Map() }: JobsOptions): Job[] {
  const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
  const borrowers = new Map<string, string[]>();
  const alone: Job[] = [];
  const plain: string[] = [];
  for (const file of files) {
    const text = textOf(file);
    if (needsServer(file) && BORROWS.test(text)) {
      const folder = file.split("/").slice(0, 2).join("/");
      borrowers.set(folder, [...(borrowers.get(folder) ?? []), file]);
    } else if (needsPrograms(file) || STARTS_PROGRAMS.test(text)) alone.push([file]);
    else plain.push(file);
  }
  const shared = [...borrowers.values()].flatMap((list) => chunks(list.toSorted(), FILES_PER_PLANE));
  const rank = (job: Job): number => (job.some(needsServer) ? 0 : job.some(needsPrograms) ? 1 : 2);
  const length = (job: Job): number => job.reduce((total, file) => total + (seconds.get(file) ?? 0), 0);
  const programs = [...alone, ...shared].toSorted((a, b) => length(b) - length(a) || rank(a) - rank(b));
  return [...programs, ...chunks(plain, FILES_PER_PROCESS)];
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
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
