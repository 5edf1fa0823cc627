import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, countsOf, one } from "./test-counts.ts";

test("countsOf counts what bun test reports", () => {
  const dir = mkdtempSync(join(tmpdir(), "binnacle-counts-"));
  const cases = [
    'import { describe, expect, test } from "bun:test";',
    'test("a", () => expect(1).toBe(1));',
    'describe("x", () => { test("b", () => expect(1).toBe(2)); test("c", () => {}); });',
    'test.skipIf(true)("d", () => {});',
  ];
  writeFileSync(join(dir, "a.test.ts"), cases.join("\n"));
  writeFileSync(join(dir, "b.test.ts"), 'throw new Error("on import");');
  Bun.spawnSync([process.execPath, "test", "--reporter=junit", "--reporter-outfile=r.xml"], { cwd: dir });
  const { passed, failed, skipped } = countsOf(readFileSync(join(dir, "r.xml"), "utf8"));
  rmSync(dir, { recursive: true });
  expect({ passed, skipped }).toEqual({ passed: 2, skipped: 1 });
  expect(failed).toBeGreaterThanOrEqual(1);
});

test("closingLine names skipped tests only when there are any", () => {
  expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed");
  expect(closingLine(one("skipped"))).toBe("0 passed, 0 failed, 1 skipped");
  expect(closingLine({ passed: 3, failed: 0, skipped: 9 }, { withoutControlPlane: 8 })).toBe(
    "3 passed, 0 failed, 9 skipped (8 of them for want of a control plane)",
  );
  expect(closingLine({ passed: 3, failed: 0, skipped: 9 }, { withoutControlPlane: 0 })).toBe(
    "3 passed, 0 failed, 9 skipped",
  );
});
