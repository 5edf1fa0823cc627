import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { changedFiles, inParallel, jobsOf, selection } from "./test-jobs.ts";

test("jobsOf gives a file that starts programs a process of its own, or one with files that use the same control plane", () => {
  const root = mkdtempSync(join(tmpdir(), "binnacle-jobs-"));
  const write = (file: string, text: string): string => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
    return file;
  };
  const plain = Array.from({ length: 50 }, (_, at) => write(`src/a/plain-${at}.test.ts`, 'import "./plain.ts";'));
  const starts = write("src/a/starts.test.ts", 'import { InProcess } from "../../tests/support/in-process.ts";');
  const binary = write("tests/acceptance/output.test.ts", "");
  const ownFlags = write("tests/acceptance/flags.server.test.ts", 'Cluster.start({ flags: ["--v=1"] })');
  const borrowers = ["a", "b", "c", "d", "e"].map((name) =>
    write(`src/reconcile/${name}.server.test.ts`, "Cluster.start({ controllers: false })"),
  );
  const files = [...plain, ...borrowers.toReversed(), starts, binary, ownFlags];
  try {
    expect(jobsOf(files, { root })).toEqual([
      [ownFlags],
      borrowers.slice(0, 4),
      borrowers.slice(4),
      [binary],
      [starts],
      plain.slice(0, 40),
      plain.slice(40),
    ]);
    const seconds = new Map([
      [starts, 9],
      [borrowers[4]!, 5],
    ]);
    expect(jobsOf(files, { root, seconds }).slice(0, 2)).toEqual([[starts], borrowers.slice(4)]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("selection leaves out the suites of what has not changed", () => {
  const files = ["src/a.test.ts", "packages/apiserver/src/b.test.ts", "tests/workloads/c.server.test.ts"];
  const [runtime, server, workloads] = files;
  expect(selection(files, ["src/kube/d.ts"])).toEqual({ wanted: [runtime!], unchanged: [server!, workloads!] });
  expect(selection(files, ["src/cluster/d.ts"])).toEqual({ wanted: [runtime!, workloads!], unchanged: [server!] });
  expect(selection(files, ["packages/apiserver/src/d.ts"])).toEqual({ wanted: files, unchanged: [] });
  expect(selection(files, ["packages/apiserver/kubectl/d.ts"]).wanted).toEqual([runtime!, server!]);
});

test("changedFiles tells what differs from the main branch: commits, edits and new files", () => {
  const root = mkdtempSync(join(tmpdir(), "binnacle-changed-"));
  const git = (...args: readonly string[]): void => {
    const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    expect(spawnSync("git", [...identity, ...args], { cwd: root }).status).toBe(0);
  };
  try {
    expect(changedFiles(root)).toBeUndefined();
    git("init", "-q", "-b", "main");
    for (const name of ["a", "b", "c"]) writeFileSync(join(root, name), name);
    git("add", ".");
    git("commit", "-qm", "a");
    expect(changedFiles(root)).toEqual([]);
    git("switch", "-qc", "work");
    writeFileSync(join(root, "a"), "changed");
    git("commit", "-qam", "b");
    writeFileSync(join(root, "b"), "changed");
    writeFileSync(join(root, "d"), "new");
    expect(changedFiles(root)).toEqual(["a", "b", "d"]);
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
