import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inParallel, jobsOf } from "./test-jobs.ts";

test("jobsOf gives a file that starts programs a process to itself, the longest first, and lets the rest share", () => {
  const root = mkdtempSync(join(tmpdir(), "binnacle-jobs-"));
  const write = (file: string, text: string): string => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
    return file;
  };
  const plain = Array.from({ length: 50 }, (_, at) => write(`src/a/plain-${at}.test.ts`, 'import "./plain.ts";'));
  const starts = write("src/a/starts.test.ts", 'import { Cluster } from "../../tests/support/cluster.ts";');
  const binary = write("scripts/acceptance/output.test.ts", "");
  const long = write("scripts/acceptance/election.test.ts", "");
  try {
    expect(jobsOf([...plain, starts, binary, long], root)).toEqual([
      [long],
      [starts],
      [binary],
      plain.slice(0, 40),
      plain.slice(40),
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
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
