import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inParallel, jobsOf, longest, together } from "./test-jobs.ts";

test("jobsOf gives a file that starts programs a process to itself or with those on its control plane, the longest first", () => {
  const root = mkdtempSync(join(tmpdir(), "binnacle-jobs-"));
  const write = (file: string, text: string): string => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
    return file;
  };
  const plain = Array.from({ length: 50 }, (_, at) => write(`src/a/plain-${at}.test.ts`, 'import "./plain.ts";'));
  const starts = write("src/a/starts.test.ts", 'import { Cluster } from "../../tests/support/cluster.ts";');
  const binary = write("tests/acceptance/output.test.ts", "");
  const long = write("tests/acceptance/election.test.ts", "");
  const shares = ["src/reconcile/children.test.ts", "src/reconcile/converged.test.ts"].map((file) => write(file, ""));
  try {
    expect(jobsOf([...plain, ...shares.toReversed(), starts, binary, long], root)).toEqual([
      [long],
      shares,
      [starts],
      [binary],
      plain.slice(0, 40),
      plain.slice(40),
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("the files that are named are there", () => {
  for (const file of new Set([...longest, ...together.flat()]))
    expect([file, existsSync(join(import.meta.dirname, "..", file))]).toEqual([file, true]);
  expect(new Set(together.flat()).size).toBe(together.flat().length);
});

test("inParallel begins in the order of the jobs, runs as many as it may, and keeps the order of the results", async () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const results = inParallel([["a"], ["b"], ["c"]], 2, async ([name = ""]) => {
    begun.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    return name;
  });
  expect(begun).toEqual(["a", "b"]);
  ends.get("b")!();
  await Bun.sleep(0);
  expect(begun).toEqual(["a", "b", "c"]);
  ends.get("c")!();
  ends.get("a")!();
  expect(await results).toEqual(["a", "b", "c"]);
});
