import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, filesOf, one, sum } from "./test-report.ts";

test("filesOf tells what bun test reports of each file", () => {
  const dir = mkdtempSync(join(tmpdir(), "binnacle-report-"));
  const a = [
    'import { beforeAll, describe, expect, test } from "bun:test";',
    'test("a", () => expect(1).toBe(1));',
    'describe("x <1>", () => { test("b", () => expect(1).toBe(2)); test("c", () => {}); });',
    'test.skipIf(true)("d", () => {});',
    'describe("y", () => { test("b & \\"c\\"", () => expect(1).toBe(2)); });',
  ];
  writeFileSync(join(dir, "a.test.ts"), a.join("\n"));
  writeFileSync(join(dir, "b.test.ts"), 'import { test } from "bun:test"; test("e", () => {});');
  Bun.spawnSync([process.execPath, "test", "--reporter=junit", "--reporter-outfile=r.xml"], { cwd: dir });
  const files = filesOf(readFileSync(join(dir, "r.xml"), "utf8"));
  rmSync(dir, { recursive: true });
  expect(files).toEqual([
    {
      file: "a.test.ts",
      passed: 2,
      failed: 2,
      skipped: 1,
      seconds: expect.any(Number),
      failures: ["x <1> > b", 'y > b & "c"'],
    },
    { file: "b.test.ts", passed: 1, failed: 0, skipped: 0, seconds: expect.any(Number), failures: [] },
  ]);
  expect(sum(files)).toEqual({ passed: 3, failed: 2, skipped: 1 });
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
