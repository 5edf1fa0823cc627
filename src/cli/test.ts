/** `binnacle test` */
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { runtimeName } from "#runtime/about";
import { startTool } from "#runtime/self";
import { runnerCall, unknownFlags } from "#runtime/test-runner";
import { unpack } from "../platform/unpack.ts";
import { type Command, command, type Host } from "./command.ts";
import { findTests } from "./find-tests.ts";
import { ReportFilter } from "./test-report.ts";
import { checkPackages, testSettings } from "./test-surroundings.ts";
import { UsageError, UserError } from "./usage-error.ts";

const TIMEOUT_MS = 30_000;
/** The garbage collector of a real cluster may take half a minute to learn of a kind. */
const REAL_TIMEOUT_MS = 120_000;

export const testCommand: Command = command({
  options: [
    {
      name: "folder",
      type: "string",
      positional: true,
      default: "./controllers",
      describe: "Folder with *.test.ts, or one such file",
    },
    { name: "filter", type: "list", positional: true, describe: "Part of a file's path; each one selects more files" },
    {
      name: "server",
      type: "string",
      choices: ["embedded", "real"],
      describe: "Server that startCluster() starts by default; real needs KUBEBUILDER_ASSETS [default: embedded]",
    },
    {
      name: "as-admin",
      type: "boolean",
      default: false,
      describe: "Let modules do everything, instead of exactly what `manifests rbac` prints for them",
    },
    { name: "test-name-pattern", type: "string", describe: "Only tests whose name matches this regular expression" },
    { name: "timeout", type: "duration", describe: "Time for each test [default: 30s; 2m with --server real]" },
    { name: "bail", type: "boolean", default: false, describe: "Stop after the first failure" },
    { name: "coverage", type: "boolean", default: false, describe: "Show how much of the modules was run" },
    { name: "update-snapshots", type: "boolean", default: false, describe: "Write snapshots anew" },
    { name: "watch", type: "boolean", default: false, describe: "Run again when files change" },
    {
      name: "env-file",
      type: "list",
      describe: "File with variables for the tests; repeatable [default: .env of the folder]",
    },
    { name: "bunfig", type: "string", describe: "Settings of the runner [default: bunfig.toml of the folder]" },
    { name: "tsconfig", type: "string", describe: "Paths and JSX of the tests [default: tsconfig.json of the folder]" },
    {
      name: "node-modules",
      type: "list",
      describe: "Folder outside of the tested one from which packages may be imported; repeatable",
    },
  ],
  async run(values, host) {
    const unknown = unknownFlags.find((name) => Boolean(values[name as keyof typeof values]));
    if (unknown !== undefined)
      throw new UsageError(`Cannot use --${unknown}: the test runner of ${runtimeName} does not offer it for modules`);
    const files = testFiles(values.folder, values.filter ?? []);
    const folder = statSync(values.folder).isDirectory() ? values.folder : dirname(values.folder);
    const allowed = values["node-modules"] ?? [];
    checkPackages(files, { folder, allowed, offered: Object.keys(await host.embedded.offered()) });
    const { program, empty } = await preload(host);
    const { args, env, ranNothing } = runnerCall({
      files,
      program,
      timeout: values.timeout ?? (values.server === "real" ? REAL_TIMEOUT_MS : TIMEOUT_MS),
      pattern: values["test-name-pattern"],
      bail: values.bail,
      coverage: values.coverage,
      updateSnapshots: values["update-snapshots"],
      watch: values.watch,
      settings: testSettings(folder, { named: values, empty }),
    });
    const child = startTool(args, {
      env: {
        ...host.env,
        ...env,
        ...(values.server !== undefined && { BINNACLE_TEST_SERVER: values.server }),
        ...(values["as-admin"] && { BINNACLE_TEST_AS_ADMIN: "1" }),
        ...(process.stderr.isTTY && !host.env["NO_COLOR"] && { FORCE_COLOR: "1" }),
      },
    });
    // The runner's clusters must end with it, because a real one consists of processes. A launcher may deliver the same
    // signal twice.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
    const filter = new ReportFilter(host.err);
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) filter.push(decoder.decode(chunk, { stream: true }));
    filter.end();
    const status = await child.exited;
    const isEmpty = ranNothing?.() ?? filter.ranNothing;
    if (status !== 0) return 1;
    if (!isEmpty) return 0;
    throw new UserError(`No test ran: none of the files in '${values.folder}' has one`);
  },
});

/** Returns the tests in a form that the runner recognizes as paths. @throws UserError when there is none. */
function testFiles(folder: string, filters: readonly string[]): readonly string[] {
  if (!existsSync(folder)) throw new UserError(`Cannot find the folder '${folder}': create it, or name another`);
  const files = findTests(folder).filter(
    (name) => filters.length === 0 || filters.some((filter) => name.includes(filter)),
  );
  if (files.length > 0)
    return files
      .sort()
      .map((name) => join(".", relative(process.cwd(), name)))
      .map(asPath);
  const among = filters.length === 0 ? "" : ` whose path contains ${filters.map((one) => `'${one}'`).join(" or ")}`;
  throw new UserError(`Cannot find a test in '${folder}'${among}: tests are in files called *.test.ts`);
}

function asPath(name: string): string {
  return name.startsWith("..") ? name : `./${name}`;
}

/** Returns the program that runs before the tests, and a folder with empty settings. */
async function preload({ embedded, env }: Host): Promise<{ readonly program: string; readonly empty: string }> {
  const { source } = embedded;
  if (source !== undefined) return { program: source, empty: dirname(dirname(source)) };
  const sdk = await embedded.sdk();
  if (sdk === undefined) throw new UserError("Cannot run tests: this binnacle was built without its SDK");
  const empty = join(await unpack(sdk, env), "node_modules", "binnacle");
  return { program: join(empty, "main.js"), empty };
}
