/** Which test files share a process, and in which order the processes begin, so that a run of all of them is short. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that one `bun test` runs, relative to the checkout. */
export type Job = readonly string[];

/** The files that take longest, the longest first: one that began last would be waited for alone. */
export const longest: readonly string[] = [
  "packages/apiserver/differential/differential.test.ts",
  "tests/workloads/workloads.test.ts",
  "tests/acceptance/high-availability.test.ts",
  "tests/acceptance/election.test.ts",
  "tests/acceptance/bad-input.test.ts",
  "tests/acceptance/conversion.test.ts",
  "src/reconcile/by-hand.test.ts",
  "src/reconcile/status.test.ts",
  "tests/acceptance/release.test.ts",
  "tests/acceptance/election-cost.test.ts",
  "src/client/client.test.ts",
  "src/reconcile/children.test.ts",
  "tests/acceptance/soak.test.ts",
  "packages/apiserver/kubectl/kubectl.test.ts",
  "src/manager/sharding.test.ts",
  "tests/acceptance/shards.test.ts",
  "tests/acceptance/guestbook.test.ts",
  "tests/acceptance/build.test.ts",
  "tests/acceptance/faults.test.ts",
  "tests/acceptance/user-tests.test.ts",
  "tests/acceptance/webhook-certificates.test.ts",
  "src/cache/real-server.test.ts",
  "tests/acceptance/refusals.test.ts",
  "scripts/controlplane/controlplane.test.ts",
  "tests/acceptance/misbehaving-modules.test.ts",
  "tests/acceptance/election-fencing.test.ts",
  "tests/acceptance/outage.test.ts",
  "tests/acceptance/limits.test.ts",
  "tests/acceptance/dev-shared.test.ts",
  "src/election/shard-simulation.test.ts",
  "tests/acceptance/dev.test.ts",
];

/**
 * Files that share a process, and in it a control plane, which is emptied after each of them: a start takes seconds of a processor.
 * They use it as it is, with kube-controller-manager or without; one that needs other flags has another.
 */
export const together: readonly Job[] = [
  ["tests/acceptance/conversion.test.ts", "tests/acceptance/webhooks.test.ts", "tests/acceptance/webhook-dev.test.ts"],
  [
    "src/reconcile/by-hand.test.ts",
    "src/reconcile/namesake.test.ts",
    "src/reconcile/finalizer.test.ts",
    "src/reconcile/child-writes.test.ts",
  ],
  [
    "src/reconcile/status.test.ts",
    "src/reconcile/skipped-children.test.ts",
    "src/reconcile/hot-loop.test.ts",
    "src/reconcile/foreign-kind.test.ts",
    "src/reconcile/equivalence.test.ts",
    "src/reconcile/outside.test.ts",
    "src/reconcile/odd-keys.test.ts",
  ],
  [
    "src/client/client.test.ts",
    "src/client/own-writes.test.ts",
    "src/client/pods.test.ts",
    "src/controller/late-controller.test.ts",
    "src/controller/selected.test.ts",
    "src/controller/left-selector.test.ts",
    "src/events/server.test.ts",
  ],
  ["src/reconcile/children.test.ts", "src/reconcile/converged.test.ts", "tests/drift/drift.test.ts"],
  [
    "tests/acceptance/guestbook.test.ts",
    "tests/acceptance/database.test.ts",
    "tests/acceptance/secret-mirror.test.ts",
    "tests/acceptance/election-modules.test.ts",
    "tests/acceptance/uninstall.test.ts",
    "tests/acceptance/uninstall-versions.test.ts",
  ],
  [
    "tests/acceptance/bad-input.test.ts",
    "tests/acceptance/modules.test.ts",
    "tests/acceptance/deploy.test.ts",
    "tests/acceptance/two-operators.test.ts",
    "tests/acceptance/types.test.ts",
    "tests/acceptance/signals.test.ts",
    "tests/acceptance/scale.test.ts",
    "tests/acceptance/generated-children.test.ts",
    "tests/acceptance/many-kinds.test.ts",
  ],
  ["src/testing/built-in-schemas.test.ts", "src/testing/real-plane.test.ts"],
  [
    "src/cache/real-server.test.ts",
    "src/resource/schema/server.test.ts",
    "src/resource/schema/built-in.test.ts",
    "packages/apiserver/src/schema/real-server.test.ts",
    "packages/apiserver/src/patch/real-server.test.ts",
    "src/webhook/conversion/applied-versions.test.ts",
    "src/manager/lent-conversion.test.ts",
    "src/kube/transport/real-server.test.ts",
  ],
];

/** A process costs 0.2 s, and takes along what all of these files need. */
const FILES_PER_PROCESS = 40;

/** What a file that starts servers or the binary imports. */
const STARTS_PROGRAMS = /from "[^"]*(tests\/support\/|controlplane\/|start-cluster)/;

/**
 * Divides files into jobs: one that starts programs, and so waits most of its time, has a process to itself or shares it with those
 * that use the same control plane; the rest share some. The longest begin first.
 */
export function jobsOf(files: readonly string[], root: string): Job[] {
  const rank = new Map(longest.map((file, at) => [file, at]));
  const startsPrograms = (file: string): boolean =>
    file.startsWith("tests/acceptance/") || STARTS_PROGRAMS.test(readFileSync(join(root, file), "utf8"));
  const wanted = new Set(files);
  const groups = together.map((group) => group.filter((file) => wanted.has(file))).filter(({ length }) => length > 0);
  const grouped = new Set(groups.flat());
  const others = files.filter((file) => !grouped.has(file));
  const alone = others.filter((file) => rank.has(file) || startsPrograms(file));
  const own = new Set(alone);
  const shared = others.filter((file) => !own.has(file));
  const rankOf = ([first = ""]: Job): number => rank.get(first) ?? longest.length;
  const jobs = [...groups, ...alone.map((file): Job => [file])].toSorted((a, b) => rankOf(a) - rankOf(b));
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
