import { expect, test } from "bun:test";
import { compareVersions } from "./compare-versions.ts";

test("compareVersions has the order of semantic versioning", () => {
  const ordered =
    "0.9.0 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0-rc.1.dev.2 1.0.0 1.0.1-dev.3 1.0.1 1.9.0 1.10.0";
  const versions = ordered.split(" ");
  for (const [i, one] of versions.entries()) {
    for (const [j, other] of versions.entries()) {
      expect([one, other, Math.sign(compareVersions(one, other))]).toEqual([one, other, Math.sign(i - j)]);
    }
  }
  expect(compareVersions("1.0.0+a", "1.0.0+b-1")).toBe(0);
});
