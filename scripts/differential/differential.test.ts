import { expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assets } from "../controlplane/controlplane.ts";
import { allCases, usualShare } from "./all-cases.ts";
import { parseAllowed, withoutAllowed } from "./allowed.ts";
import { runCases } from "./case.ts";
import { compareCases } from "./compare.ts";
import { discover } from "./discovery.ts";
import { embeddedTarget } from "./embedded.ts";
import { normalizeCase } from "./normalize.ts";
import { report } from "./report.ts";
import { realTarget } from "./target.ts";

setDefaultTimeout(300_000);

/** Exchanges that may still differ, 22 and what two busy servers add by their timing; this only goes down, to 0. */
const stillDiffer = 30;

test.skipIf((await assets()) === undefined)("createApiServer answers as kube-apiserver does", async () => {
  await using real = await realTarget();
  await using embedded = await embeddedTarget();
  const cases = allCases(await discover(real), usualShare);
  const expected = (await runCases(real, cases)).map(normalizeCase);
  const actual = (await runCases(embedded, cases)).map(normalizeCase);
  const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
  const found = expected.flatMap((record, index) => compareCases(record, actual[index]));
  const left = withoutAllowed(found, allowed);
  const count = expected.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  console.log(`${count} exchanges, ${left.length} differ, ${found.length - left.length} only where it is allowed`);
  if (left.length > 0) console.log(report(left, { first: 20 }));
  expect(count).toBeGreaterThan(2000);
  expect(left.length).toBeLessThanOrEqual(stillDiffer);
});
