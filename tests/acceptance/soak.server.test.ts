/** Runs a short soak; `bun tests/soak/soak.ts` runs it for ten minutes. `SOAK_SECONDS`, `SOAK_SEED` and `SOAK_OBJECTS` change it. */
import { describe, expect, test } from "bun:test";
import { soak } from "../soak/soak.ts";
import { available } from "../support/cluster.ts";

const seconds = Number(process.env["SOAK_SECONDS"] ?? 20);
const seed = Number(process.env["SOAK_SEED"] ?? 1);
const objects = Number(process.env["SOAK_OBJECTS"] ?? 300);

describe.skipIf(!available)("soak", () => {
  test(
    `${seconds} s of faults: everything held and reconciled, nothing leaked, and the process ends by itself`,
    async () => {
      console.log(`seed ${seed}`);
      const { state, early, late, ended, exitCode, resources, ...rest } = await soak({ seconds, seed, objects });
      console.log(JSON.stringify({ ...rest, ended, relists: state.relists }));
      console.log(
        `heap ${early.heap} → ${late.heap}, code ${early.code} → ${late.code}, resident ${early.resident} → ${late.resident}`,
      );
      expect(state.backwards).toEqual([]);
      // This excludes compiled code, which grows for as long as functions become hot.
      expect(late.heap).toBeLessThan(early.heap * (seconds >= 120 ? 1.1 : 1.15));
      expect(exitCode).toBe(0);
      expect(ended).toBeLessThan(20_000); // less than the grace period of 30 s
      expect(resources.after).toBe(resources.before);
    },
    (seconds + 240) * 1_000,
  );
});
