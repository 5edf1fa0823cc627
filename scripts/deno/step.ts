/** `npm run test:deno`: the same tests on the second runtime, and black-box tests of the program as it runs there. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoProgram } from "../../tests/support/deno.ts";
import { type Counts, filesOf, one, sum } from "../test-report.ts";
import type { Job } from "../test-jobs.ts";
import type { Result, Tests } from "../test-runs.ts";
import { writeDenoProgram } from "./program.ts";

const root = join(import.meta.dirname, "../..");

/** Test files of what is implemented for each runtime, and of what builds on it at once. They use nothing of Bun. */
const shared: readonly string[] = [
  "controllers",
  "src/loader/load.test.ts",
  "src/platform/deno/module-host.test.deno.ts",
  "src/platform/deno/timer-promises.test.deno.ts",
  "src/platform/abortable.test.ts",
  "src/platform/gunzip.test.ts",
  "src/platform/http-server.test.ts",
  "src/platform/runtime-parts.test.ts",
  "src/platform/secure-socket.test.ts",
  "src/cli/insight/insight.test.ts",
  "src/kube/config/trust.test.ts",
  "src/kube/http/connector.test.ts",
  "src/kube/http/http1-request.test.ts",
  "src/kube/http2/h2-connection.test.ts",
  "src/kube/transport/proxied.test.ts",
  "src/kube/transport/transport.test.ts",
  "src/server/listeners.test.ts",
  "src/server/tls-listener.test.ts",
  "packages/apiserver/src/certificate-listener.test.ts",
  "packages/apiserver/src/platform/equality.test.ts",
  "packages/apiserver/src/platform/http2-listener.test.ts",
  "packages/apiserver/src/cel/cel.test.ts",
  "packages/apiserver/src/cel/compile.test.ts",
];

/**
 * Files of the suites that drive the program from outside, as they share processes and so control planes. `BINNACLE_PROGRAM` lets
 * them drive it on Deno; others run there by hand. One example stands for all: the tests of `controllers` above run each of them.
 */
const driven: readonly Job[] = [
  ["packages/apiserver/differential/differential.test.ts"],
  ["tests/acceptance/faults.server.test.ts"],
  [
    "tests/acceptance/bad-input.server.test.ts",
    "tests/acceptance/modules.server.test.ts",
    "tests/acceptance/signals.server.test.ts",
    "tests/acceptance/plugins.test.ts",
    "tests/acceptance/webhooks.server.test.ts",
  ],
  ["tests/acceptance/guestbook.server.test.ts", "tests/acceptance/election-modules.server.test.ts"],
  ["tests/acceptance/http1.server.test.ts"],
];

/** What the report of `deno test` is told as: it does not say which file a test is of, so all of them are run again when one fails. */
const ON_DENO = "deno test";

/** @param tests runs jobs, in an environment as this process has it then. */
export async function denoTests(tests: Tests): Promise<Counts> {
  const deno = denoProgram();
  const program = writeDenoProgram();
  if (deno === undefined || program === undefined) {
    console.log("There is no Deno for this machine: its tests are skipped.");
    return one("skipped");
  }
  const own = sum([await typesCheck(deno), await tests([[ON_DENO]], { run: () => sharedTests(deno) })]);
  process.env["BINNACLE_PROGRAM"] = program;
  // Watches of the server under test and of the real one are a connection each.
  process.env["BUN_CONFIG_MAX_HTTP_REQUESTS"] = "4096";
  try {
    return sum([own, await tests(driven, { limit: 3 })]);
  } finally {
    delete process.env["BINNACLE_PROGRAM"];
    delete process.env["BUN_CONFIG_MAX_HTTP_REQUESTS"];
  }
}

/** The sources are the types of the SDK for modules on Deno, so they must check there too. */
async function typesCheck(deno: string): Promise<Counts> {
  const entries = ["src/main.deno.ts", "src/testing/index.ts"];
  return one((await run(deno, ["check", "--quiet", "--config=deno.json", ...entries])) === 0 ? "passed" : "failed");
}

async function sharedTests(deno: string): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-deno-"));
  try {
    const report = join(folder, "report.xml");
    const status = await run(deno, ["test", "--allow-all", "--no-check", `--junit-path=${report}`, ...shared]);
    const files = existsSync(report) ? filesOf(await readFile(report, "utf8")) : [];
    const counts = sum(files);
    const isLost = files.length === 0 || (status !== 0 && counts.failed === 0);
    const seconds = files.reduce((total, file) => total + file.seconds, 0);
    const failures = files.flatMap((file) => file.failures);
    return {
      files: files.length === 0 ? [] : [{ file: ON_DENO, seconds, failures, ...counts }],
      lost: isLost ? [ON_DENO] : [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(path: string, args: readonly string[]): Promise<number> {
  const env = { ...process.env, DENO_DIR: join(root, "dist", "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  const child = spawn(path, args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve, reject) => child.once("error", reject).once("exit", (code) => resolve(code ?? 1)));
}
