/** `npm run test:suites`: what others wrote for kube-apiserver, run on the executable and compared with what the real server gives. */

import { spawnSync } from "node:child_process";
import { type Counts, one, sum } from "../../scripts/test-report.ts";
import type { Tests } from "../../scripts/test-runs.ts";
import { build, isBuilt } from "../../scripts/build.ts";
import { PartRuns } from "./part-runs.ts";
import { type SuiteOptions, suites } from "./suites.ts";

/** @param names the suites, as `suites.ts` knows them @default all */
export async function suiteTests(
  tests: Tests,
  { names, all }: { readonly names: readonly string[]; readonly all: boolean },
): Promise<Counts> {
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) {
    console.log("Skipped: the suites are written in Go, and the PATH has no go");
    return one("skipped");
  }
  if (!isBuilt()) await build();
  const counts: Counts[] = [];
  for (const name of names.length > 0 ? names : Object.keys(suites)) {
    try {
      counts.push(await suiteTest(tests, name, { server: "binnacle", all }));
    } catch (error) {
      console.log(error instanceof Error ? error.message : error);
      counts.push(one("failed"));
    }
  }
  return sum(counts);
}

async function suiteTest(tests: Tests, name: string, options: SuiteOptions): Promise<Counts> {
  const suite = suites[name];
  if (suite === undefined)
    throw new Error(`Cannot find the suite '${name}': there are ${Object.keys(suites).join(", ")}`);
  await using ready = await suite(options);
  const runs = new PartRuns(ready.parts);
  const counts = await tests(
    runs.ids.map((id) => [id]),
    { limit: ready.limit, run: ([id = ""]) => runs.run(id) },
  );
  for (const line of runs.table()) console.log(line);
  return counts;
}
