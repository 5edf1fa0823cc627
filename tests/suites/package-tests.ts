/** The tests of one Go package, as a program of their own that envtest starts servers for. */

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiled, labelOf, moduleSources, nameOf, suitesCache } from "./go-module.ts";
import type { GoModule } from "./modules.ts";
import { inOwnNetwork } from "./own-network.ts";
import { runProgram } from "./suite-program.ts";
import { focusOn } from "./focus.ts";
import { type Spec, specsOfLog, specsOfReport } from "./spec.ts";

export interface PackageTests {
  /** Such as `controller-runtime/pkg/client`. */
  readonly id: string;
  readonly program: string;
  /** Where the tests look for the files they load. */
  readonly folder: string;
}

/** The tests of a module's packages, built where they have not been built. */
export async function packageTests(module: GoModule): Promise<PackageTests[]> {
  const source = await moduleSources(module);
  const all: PackageTests[] = [];
  for (const path of module.packages)
    all.push(await testsOf(source, { path, label: labelOf(module), name: nameOf(module.path) }));
  return all;
}

/** The tests of one package below a folder of sources. */
export async function testsOf(
  source: string,
  { path, label, name }: { readonly path: string; readonly label: string; readonly name: string },
): Promise<PackageTests> {
  const bin = suitesCache(`${label}-tests`);
  await mkdir(bin, { recursive: true });
  const program = await compiled(join(bin, `${path.replaceAll("/", "-")}.test`), { source, package: `./${path}` });
  return { id: `${name}/${path}`, program, folder: join(source, path) };
}

export interface RunOptions {
  /** What `KUBEBUILDER_ASSETS` names. */
  readonly assets: string;
  /** Where the log and the report go. */
  readonly output: string;
  /** The search path of the tests, some of which call kubectl. */
  readonly path: string;
  /** The names of the Ginkgo specs that run. @default all */
  readonly specs?: readonly string[] | undefined;
  /** Milliseconds until the suite is ended. @default 10 minutes */
  readonly timeout?: number;
}

/** Runs the tests of a package. @returns what it reports, which is nothing when it ended before its report */
export async function runPackage(tests: PackageTests, options: RunOptions): Promise<readonly Spec[]> {
  const { assets, output, path, specs, timeout = 600_000 } = options;
  const file = join(output, tests.id.replaceAll("/", "-"));
  await mkdir(output, { recursive: true });
  await rm(`${file}.json`, { force: true });
  // Servers that a suite leaves behind leave folders, too.
  const temporary = await mkdtemp(join(tmpdir(), "suite-"));
  try {
    const flags = [
      "-test.v",
      "-test.timeout=20m",
      "--ginkgo.timeout=9m",
      "--ginkgo.no-color",
      `--ginkgo.json-report=${file}.json`,
    ];
    if (specs !== undefined) flags.push(`--ginkgo.focus=${focusOn(specs)}`);
    const env = {
      KUBEBUILDER_ASSETS: assets,
      TMPDIR: temporary,
      PATH: path,
    };
    const command = inOwnNetwork([tests.program, ...flags]);
    await runProgram(command, { cwd: tests.folder, env, log: `${file}.log`, timeout });
    const report = existsSync(`${file}.json`) ? specsOfReport(await readFile(`${file}.json`, "utf8")) : [];
    return [...report, ...specsOfLog(await readFile(`${file}.log`, "utf8"), report.length > 0)];
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
