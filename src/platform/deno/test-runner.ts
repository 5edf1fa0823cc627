/** Runs tests by the test runner of Deno. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunnerCall, TestRun } from "../test-runner.ts";
import { TIMEOUT } from "./bun-test.ts";
import { projectConfig } from "./project.ts";

/** Flags of `binnacle test` that this runner does not know. */
export const unknownFlags: readonly string[] = ["bunfig", "tsconfig", "update-snapshots"];

/** Returns how the runner is called. */
export function runnerCall({ files, program, timeout, pattern, settings, ...flags }: TestRun): RunnerCall {
  const args = [
    "test",
    "--allow-all",
    "--no-check", // `binnacle check` checks the types of tests
    "--unstable-sloppy-imports",
    `--config=${projectConfig}`,
    `--preload=${program}`,
    ...settings.environment.map((file) => `--env-file=${file}`),
    ...(pattern === undefined ? [] : [`--filter=/${pattern}/`]),
    ...(flags.bail ? ["--fail-fast"] : []),
    ...(flags.coverage ? [`--coverage=${mkdtempSync(join(tmpdir(), "binnacle-coverage-"))}`] : []),
    ...(flags.watch ? ["--watch"] : []),
    ...files,
  ];
  return { args, env: { [TIMEOUT]: String(timeout) } };
}
