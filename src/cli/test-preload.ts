/** Runs before a user's tests, in the process that runs them. */
import { writeSync } from "node:fs";
import { passEnvironment } from "#runtime/self";
import { afterEach } from "#runtime/test-hooks";
import { offerModules } from "#runtime/module-host";
import type { OfferedPackages } from "../platform/module-host.ts";
import { keepRecentPast, recentPast } from "../testing/recent-past.ts";
import { reportLine } from "./test-report.ts";

/** Offers the SDK to the tests, and sends the command after each test the report to show if it failed. */
export function prepareTests(offered: OfferedPackages): void {
  // A binnacle process that a test starts must not inherit this variable: it would run as the plain runtime.
  delete process.env["BUN_BE_BUN"];
  passEnvironment();
  offerModules(offered);
  keepRecentPast();
  afterEach((hasFailed) => {
    const text = recentPast();
    if (text === undefined || hasFailed === false) return;
    writeSync(2, hasFailed === undefined ? reportLine(text) : `\n${text}\n`);
  });
}
