/** What a run of `bun test` reports: how many tests passed, failed and were skipped, and which ones failed. */

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** One test file of a JUnit report. */
export interface FileReport extends Readonly<Counts> {
  readonly file: string;
  /** With the hooks of the file. */
  readonly seconds: number;
  /** The names of the tests that failed, with the names of the groups they belong to. */
  readonly failures: readonly string[];
}

/** A step that is one test. */
export function one(outcome: keyof Counts): Counts {
  return { passed: 0, failed: 0, skipped: 0, [outcome]: 1 };
}

export function sum(counts: Iterable<Readonly<Counts>>): Counts {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of counts) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}

/** The files of a JUnit report. A file that cannot be loaded is missing in it: only the exit status tells. */
export function filesOf(report: string): FileReport[] {
  const files: FileReport[] = [];
  const groups: string[] = [];
  let failures: string[] = [];
  let testName = "";
  for (const [, closes, tag, attributes = "", empty] of report.matchAll(
    /<(\/?)(testsuite|testcase|failure|error)\b([^>]*?)(\/?)>/g,
  )) {
    if (closes) {
      if (tag === "testsuite") groups.pop();
    } else if (tag === "testsuite") {
      if (groups.length === 0) files.push(fileOf(attributes, (failures = [])));
      if (!empty) groups.push(attribute(attributes, "name"));
    } else if (tag === "testcase") {
      testName = [...groups.slice(1), attribute(attributes, "name")].join(" > ");
    } else {
      failures.push(testName);
    }
  }
  return files;
}

function fileOf(attributes: string, failures: readonly string[]): FileReport {
  const number = (name: string) => Number(attribute(attributes, name));
  const failed = number("failures") + number("errors");
  const skipped = number("skipped");
  return {
    file: attribute(attributes, "file"),
    seconds: number("time"),
    passed: number("tests") - failed - skipped,
    failed,
    skipped,
    failures,
  };
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return value.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

/** @param about `withoutControlPlane`: how many were skipped because there is no control plane. */
export function closingLine(
  { passed, failed, skipped }: Counts,
  { withoutControlPlane = 0 }: { readonly withoutControlPlane?: number } = {},
): string {
  const counted = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return withoutControlPlane > 0 ? `${counted} (${withoutControlPlane} of them for want of a control plane)` : counted;
}
