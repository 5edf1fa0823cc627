/** What kubebuilder generates, unchanged: the beginning of most operators written in Go. */

import { Unavailable } from "../node/assets.ts";
import { run } from "../node/programs.ts";
import { compiled, labelOf, madeOnce, moduleSources, suitesCache } from "./go-module.ts";
import { kubebuilder } from "./modules.ts";
import { type PackageTests, testsOf } from "./package-tests.ts";

const kind = ["--group", "demo", "--version", "v1", "--kind", "Sailor"];

/** Each line of kubebuilder's that makes a part of the project. */
const commands: readonly (readonly string[])[] = [
  ["init", "--domain", "example.com", "--repo", "example.com/scaffold", "--project-name", "scaffold"],
  ["create", "api", ...kind, "--resource", "--controller"],
  ["create", "webhook", ...kind, "--defaulting", "--programmatic-validation"],
];

const packages = ["internal/controller", "internal/webhook/v1"];

/** The generated tests of a generated project, built where they have not been built. */
export async function scaffoldTests(): Promise<PackageTests[]> {
  if (Bun.which("make") === null) throw new Unavailable("kubebuilder runs make, and the PATH has none");
  const program = await compiled(suitesCache(labelOf(kubebuilder)), {
    source: await moduleSources(kubebuilder),
    package: ".",
    kind: "program",
  });
  const source = await madeOnce(suitesCache(`${labelOf(kubebuilder)}-scaffold`), (folder) => generate(program, folder));
  const tests: PackageTests[] = [];
  for (const path of packages) {
    tests.push(await testsOf(source, { path, label: `${labelOf(kubebuilder)}-scaffold`, name: "scaffold" }));
  }
  return tests;
}

async function generate(program: string, folder: string): Promise<void> {
  for (const command of commands) await run(program, command, { cwd: folder });
  await run("make", ["manifests", "generate"], { cwd: folder });
}
