/** Runs tests by the test runner of Bun. */
import type { RunnerCall, TestRun } from "../test-runner.ts";

/** Flags of `binnacle test` that this runner does not support. */
export const unknownFlags: readonly string[] = [];

/** Returns how the runner is called. */
export function runnerCall({ files, program, timeout, pattern, settings, ...flags }: TestRun): RunnerCall {
  const { bail, coverage, updateSnapshots, watch } = flags;
  const args = [
    "test",
    `--preload=${program}`,
    `--config=${settings.bunfig}`,
    `--tsconfig-override=${settings.tsconfig}`,
    ...(settings.environment.length === 0
      ? ["--no-env-file"]
      : settings.environment.map((file) => `--env-file=${file}`)),
    "--no-install",
    `--timeout=${timeout}`,
    ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
    ...Object.entries({ bail, coverage, "update-snapshots": updateSnapshots, watch }).flatMap(([name, is]) =>
      is ? [`--${name}`] : [],
    ),
    ...files,
  ];
  // A real server needs a connection for each watch.
  return { args, env: { BUN_CONFIG_MAX_HTTP_REQUESTS: "4096" } };
}
