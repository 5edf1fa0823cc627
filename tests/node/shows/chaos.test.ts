/** Each fault of the trial once, while somebody changes objects all the time. It comes last: the cluster itself may take minutes to recover. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chaos, NAMESPACE } from "../chaos.ts";
import { available, Show } from "./show.ts";

describe.skipIf(!available)("chaos", () => {
  let show: Show;
  beforeAll(async () => {
    show = await Show.open("chaos");
  }, 240_000);
  afterAll(async () => {
    const left = [`namespace/${NAMESPACE}`, "customresourcedefinition/pearls.chaos.binnacle.dev"];
    await show?.node.tryKubectl(["delete", "--ignore-not-found", "--timeout=90s", ...left]);
    await show?.[Symbol.asyncDispose]();
  }, 240_000);

  test("leaves every object with its child, and nobody has written without the Lease", async () => {
    const outcome = await show.step("each fault once, and the state is right", async () => {
      return await chaos(show.node, { seed: 1, seconds: 1, pause: 1_000, lasts: 4_000 });
    });
    const { faults, lease, settled, verdict } = outcome;
    console.log(
      `chaos: ${(settled / 1000).toFixed(1)} s until the state was right; ${verdict.writes} writes under ${lease.versions} ` +
        `versions of the Lease, ${verdict.violations.length} without it`,
    );
    expect(Object.keys(faults).length).toBeGreaterThan(3);
    expect(verdict.writes).toBeGreaterThan(0);
    expect(verdict.violations).toEqual([]);
  }, 420_000);
});
