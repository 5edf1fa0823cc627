import { expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assets } from "../controlplane/controlplane.ts";
import { allSituations } from "./all-situations.ts";
import { compareOutcomes, describe, parseAllowed, withoutAllowed } from "./compare.ts";
import { play } from "./play.ts";
import { embeddedSide, realSide } from "./side.ts";

setDefaultTimeout(240_000);

/** Fields that may still differ, and what two busy clusters add by their timing; this only goes down, to 0. */
const stillDiffer = 20;

test.skipIf((await assets()) === undefined)("clusterControllers do as kube-controller-manager does", async () => {
  await using real = await realSide();
  await using embedded = await embeddedSide();
  const [expected, actual] = await play([real, embedded], allSituations);
  const allowed = parseAllowed(await readFile(join(import.meta.dirname, "allowed.txt"), "utf8"));
  const found = allSituations.flatMap(({ name }) => compareOutcomes(name, expected.get(name)!, actual.get(name)!));
  const left = withoutAllowed(found, allowed);
  console.log(
    `${allSituations.length} situations, ${new Set(left.map(({ situation }) => situation)).size} differ in ` +
      `${left.length} fields, ${found.length - left.length} more where it is allowed`,
  );
  for (const difference of left.slice(0, 20)) console.log(describe(difference));
  expect(allSituations.length).toBeGreaterThanOrEqual(60);
  expect(left.length).toBeLessThanOrEqual(stillDiffer);
});
