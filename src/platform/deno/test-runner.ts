/** Runs tests by the test runner of Deno. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunnerCall, TestRun } from "../test-runner.ts";
import { TIMEOUT } from "./bun-test.ts";
import { projectConfig } from "./project.ts";

/** Flags of `binnacle test` that this runner does not support. */
export const unknownFlags: readonly string[] = ["bunfig", "coverage", "tsconfig", "update-snapshots"];

/** Returns how the runner is called. */
export function runnerCall({ files, program, timeout, pattern, settings, ...flags }: TestRun): RunnerCall {
  const reports = mkdtempSync(join(tmpdir(), "binnacle-test-"));
  const report = join(reports, "report.xml");
  const args = [
    "test",
    `--junit-path=${report}`,
    "--allow-all",
    "--no-check", // `binnacle check` checks the types of tests
    "--unstable-sloppy-imports",
    `--config=${projectConfig}`,
    `--preload=${program}`,
    ...settings.environment.map((file) => `--env-file=${file}`),
    ...(pattern === undefined ? [] : [`--filter=/${pattern}/`]),
    ...(flags.bail ? ["--fail-fast"] : []),
    ...(flags.watch ? ["--watch"] : []),
    ...files,
  ];
  const ranNothing = (): boolean => {
    try {
      return !readFileSync(report, "utf8").includes("<testcase");
    } catch {
      return false; // the runner says why it wrote none
    } finally {
      rmSync(reports, { recursive: true, force: true });
    }
  };
  return { args, env: { [TIMEOUT]: String(timeout) }, ranNothing };
}
