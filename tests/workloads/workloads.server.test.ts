import { expect, setDefaultTimeout, test } from "bun:test";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { allSituations } from "./all-situations.ts";
import { describe } from "./compare.ts";
import { differences } from "./differences.ts";
import { embeddedSide, realSide } from "./side.ts";

setDefaultTimeout(1_200_000);

test.skipIf((await assets()) === undefined)("clusterControllers do as kube-controller-manager does", async () => {
  await using real = await realSide();
  await using embedded = await embeddedSide();
  const { all, left, first } = await differences([real, embedded], allSituations);
  const again = new Set(first.map(({ situation }) => situation));
  console.log(
    `${allSituations.length} situations, ${left.length} fields differ, ${all.length - left.length} where it is allowed` +
      (again.size === 0 ? "" : `; played again: ${[...again].join(", ")}`),
  );
  expect(left.map(describe)).toEqual([]);
  expect(allSituations.length).toBeGreaterThanOrEqual(60);
});
