import { expect, test } from "bun:test";
import type { Job } from "./test-jobs.ts";
import type { FileReport } from "./test-report.ts";
import { LOST, type Result, runSteadily } from "./test-runs.ts";

/** What a process reports of files of which each has two tests, by the names of those that failed. */
function result(files: Readonly<Record<string, readonly string[]>>, lost: readonly string[] = []): Result {
  const reports = Object.entries(files).map(([file, failures]): FileReport => {
    return { file, seconds: 1, passed: 2 - failures.length, failed: failures.length, skipped: 0, failures };
  });
  return { files: reports, lost };
}

/** Answers with results in turn, and keeps what it was asked to run. */
function runner(...results: readonly Result[]): ((job: Job) => Promise<Result>) & { readonly jobs: Job[] } {
  const jobs: Job[] = [];
  const run = async (job: Job): Promise<Result> => results[jobs.push(job) - 1] ?? result({});
  return Object.assign(run, { jobs });
}

test("a file that failed is run again, alone, and its second run counts", async () => {
  const run = runner(result({ a: ["one"], b: [] }), result({ c: ["two", "three"] }));
  const again = runner(result({ a: [] }), result({ c: ["two"] }));
  const outcome = await runSteadily([["a", "b"], ["c"]], { run, again });
  expect(again.jobs).toEqual([["a"], ["c"]]);
  expect(outcome).toEqual({
    ...result({ b: [], a: [], c: ["two"] }),
    unsteady: ["a: one", "c: three"],
  });
});

test("the files that a process has lost are run again together, and those lost twice count", async () => {
  const run = runner(result({ a: [] }, ["b", "c"]), result({}, ["d"]));
  const again = runner(result({ b: ["one"], c: [] }), result({}, ["d"]));
  const outcome = await runSteadily([["a", "b", "c"], ["d"]], { run, again });
  expect(again.jobs).toEqual([["b", "c"], ["d"]]);
  expect(outcome).toEqual({ ...result({ a: [], b: ["one"], c: [] }, ["d"]), unsteady: [`c: ${LOST}`] });
});

test("a file is not counted twice when its second run ends before its report, or ends badly after it", async () => {
  const run = runner(result({ a: ["one"], b: ["two"] }));
  const again = runner(result({}, ["a"]), result({ b: [] }, ["b"]));
  expect(await runSteadily([["a", "b"]], { run, again })).toEqual({ ...result({ b: [] }, ["a", "b"]), unsteady: [] });
});

test("nothing is run again when nothing failed, when too much failed, or when nobody wants it", async () => {
  const again = runner();
  const good = result({ a: [] });
  expect(await runSteadily([["a"]], { run: runner(good), again })).toEqual({ ...good, unsteady: [] });
  const bad = result(Object.fromEntries(["a", "b", "c", "d", "e", "f", "g"].map((file) => [file, ["one"]])));
  expect(await runSteadily([["a"]], { run: runner(bad), again })).toEqual({ ...bad, unsteady: [] });
  expect(again.jobs).toEqual([]);
  const once = result({ a: ["one"] }, ["b"]);
  expect(await runSteadily([["a"]], { run: runner(once) })).toEqual({ ...once, unsteady: [] });
});
