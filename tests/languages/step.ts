/** `npm run test:languages`: what the pages of docs/languages show, in their languages. */
import { existsSync } from "node:fs";
import { build, isBuilt } from "../../scripts/build.ts";
import { program } from "../support/program.ts";
import type { Counts } from "../../scripts/test-report.ts";
import type { Job } from "../../scripts/test-jobs.ts";

/** Downloads more than it tells: it runs when somebody names it. */
const ON_REQUEST = /\/java\.test\.ts$/;

/** @param tests runs jobs one after the other, because each of them compiles something. */
export async function languageTests(
  files: readonly string[],
  tests: (jobs: readonly Job[]) => Promise<Counts>,
): Promise<Counts> {
  if (!existsSync(program) || !isBuilt()) await build();
  const wanted = files.filter((file) => file.startsWith("tests/languages/") && !ON_REQUEST.test(file));
  return tests(wanted.map((file) => [file]));
}
