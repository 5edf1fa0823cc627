/** `npm run test:suites`: what others wrote for kube-apiserver, run on the executable and compared with what the real server gives. */

import { spawnSync } from "node:child_process";
import { type Counts, one, sum } from "../../scripts/test-report.ts";
import type { Tests } from "../../scripts/test-runs.ts";
import { build, isBuilt } from "../../scripts/build.ts";
import { Unavailable } from "../node/assets.ts";
import { PartRuns } from "./part-runs.ts";
import { lanes, type Part, suites } from "./suites.ts";

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
  const parts: Part[] = [];
  const unready: Counts[] = [];
  for (const name of names.length > 0 ? names : Object.keys(suites)) {
    try {
      parts.push(...(await suites[name]!({ server: "binnacle", all })));
    } catch (error) {
      const outcome = error instanceof Unavailable ? "skipped" : "failed";
      console.log(`${name}: ${outcome}: ${error instanceof Error ? error.message : String(error)}`);
      unready.push(one(outcome));
    }
  }
  const runs = new PartRuns(parts);
  const jobs = runs.ids.map((id) => [id]);
  const counts = await tests(jobs, { limit: lanes(), run: ([id = ""]) => runs.run(id) });
  for (const line of [...runs.failures(), ...runs.table()]) console.log(line);
  return sum([counts, ...unready]);
}
