/** `npm run test:browser`: the dashboard in headless Chromium, where the machine has it. */
import { type Counts, one } from "../../scripts/test-report.ts";
import type { Job } from "../../scripts/test-jobs.ts";
import { chromiumProgram } from "./browser.ts";

/** @param tests runs jobs one after the other, because each of them starts a browser. */
export async function browserTests(
  files: readonly string[],
  { tests, isCi }: { readonly tests: (jobs: readonly Job[]) => Promise<Counts>; readonly isCi: boolean },
): Promise<Counts> {
  if (chromiumProgram() === undefined) {
    console.log(`${isCi ? "Cannot run" : "Skipped"}: no chromium on PATH, such as that of Debian's package chromium`);
    return one(isCi ? "failed" : "skipped");
  }
  return tests(files.filter((file) => file.startsWith("tests/dashboard/")).map((file) => [file]));
}
