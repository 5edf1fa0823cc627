/** Checks the rules of this project that no general tool knows. Each line of output says where, what, and the rule. */

import { join } from "node:path";
import { checkEntries } from "./house/check-entries.ts";
import { checkExports } from "./house/check-exports.ts";
import { checkImports } from "./house/check-imports.ts";
import { checkLines } from "./house/check-lines.ts";
import { checkLinks } from "./house/check-links.ts";
import { checkMetrics } from "./house/check-metrics.ts";
import { checkPatterns } from "./house/check-patterns.ts";
import { checkPicture } from "./house/check-picture.ts";
import { checkPlatform } from "./house/check-platform.ts";
import { checkReadme } from "./house/check-readme.ts";
import { checkLock, checkPaths } from "./house/check-repository.ts";
import { checkShape } from "./house/check-shape.ts";
import { checkThreats } from "./house/check-threats.ts";
import { format } from "./house/finding.ts";

const root = join(import.meta.dirname, "..");
const checks = [
  checkImports,
  checkPlatform,
  checkPicture,
  checkExports,
  checkEntries,
  checkReadme,
  checkLines,
  checkLinks,
  checkMetrics,
  checkShape,
  checkLock,
  checkPaths,
  checkPatterns,
  checkThreats,
];
const findings = (await Promise.all(checks.map((check) => check(root)))).flat();
for (const finding of findings) console.error(format(finding));
if (findings.length > 0) {
  console.error(`${findings.length} found`);
  process.exitCode = 1;
}
