/** How many tests passed, failed and were skipped, and the line that says so. */

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** A step that is one test. */
export function one(outcome: keyof Counts): Counts {
  return { passed: 0, failed: 0, skipped: 0, [outcome]: 1 };
}

/** From a JUnit report: the totals of its outermost element. */
export function countsOf(report: string): Counts {
  const totals = /<testsuites\b[^>]*>/.exec(report)?.[0] ?? "";
  const number = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(totals)?.[1] ?? 0);
  const failed = number("failures") + number("errors");
  const skipped = number("skipped");
  return { passed: number("tests") - failed - skipped, failed, skipped };
}

/** @param about `withoutControlPlane`: how many were skipped because there is no control plane. */
export function closingLine(
  { passed, failed, skipped }: Counts,
  { withoutControlPlane = 0 }: { readonly withoutControlPlane?: number } = {},
): string {
  const counted = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return withoutControlPlane > 0 ? `${counted} (${withoutControlPlane} of them for want of a control plane)` : counted;
}
