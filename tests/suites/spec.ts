/** What a suite in Go reports of its specs. */

export type Outcome = "passed" | "failed" | "skipped";

export interface Spec {
  /** With the names of the groups it belongs to. */
  readonly name: string;
  readonly outcome: Outcome;
  readonly seconds: number;
  /** Why it failed, in one line that begins with the place. */
  readonly failure?: string;
}

/** One spec of a Ginkgo report. @see https://pkg.go.dev/github.com/onsi/ginkgo/v2/types#SpecReport */
interface SpecReport {
  readonly ContainerHierarchyTexts?: readonly string[] | null;
  readonly LeafNodeText?: string;
  readonly LeafNodeType: string;
  readonly State: string;
  readonly RunTime?: number;
  readonly Failure?: {
    readonly Message?: string;
    readonly Location?: { readonly FileName?: string; readonly LineNumber?: number };
  };
}

/**
 * The specs of a Ginkgo report. A spec that the run was not about is none; what a suite does before and after its specs counts as
 * a spec when it fails.
 */
export function specsOfReport(text: string): Spec[] {
  const suites = (JSON.parse(text || "[]") ?? []) as readonly { readonly SpecReports?: readonly SpecReport[] | null }[];
  const counts = new Map<string, number>();
  const specs: Spec[] = [];
  for (const report of suites.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    const outcome = outcomeOf(report);
    if (outcome === undefined) continue;
    const isSpec = report.LeafNodeType === "It";
    if (!isSpec && outcome !== "failed") continue;
    const texts = [...(report.ContainerHierarchyTexts ?? []), report.LeafNodeText ?? ""].join(" ").trim();
    const base = isSpec ? texts : `[${report.LeafNodeType}] ${texts}`.trim();
    const count = (counts.get(base) ?? 0) + 1;
    counts.set(base, count);
    const name = count === 1 ? base : `${base} #${count}`;
    specs.push({ name, outcome, seconds: (report.RunTime ?? 0) / 1e9, ...failureOf(report, outcome) });
  }
  return specs;
}

/** A spec that a filter left out is skipped without a message. */
function outcomeOf({ State: state, Failure: failure }: SpecReport): Outcome | undefined {
  if (state === "passed") return "passed";
  if (state === "pending") return "skipped";
  if (state === "skipped") return failure?.Message ? "skipped" : undefined;
  return "failed";
}

function failureOf({ Failure: failure, State: state }: SpecReport, outcome: Outcome): { failure?: string } {
  if (outcome !== "failed") return {};
  const { FileName: file = "", LineNumber: line = 0 } = failure?.Location ?? {};
  const message = (failure?.Message ?? "").replace(/\s+/g, " ").trim().slice(0, 600);
  return { failure: `${file.split("/").slice(-3).join("/")}:${line}: ${message || state}` };
}

/**
 * The tests in the log of a Go program: those that have no subtests, and all subtests that have none.
 *
 * @param isReported whether tests that run the specs of Ginkgo are left out, because its report tells more
 */
export function specsOfLog(log: string, isReported: boolean): Spec[] {
  const specs: Spec[] = [];
  const outcomes = { PASS: "passed", FAIL: "failed", SKIP: "skipped" } as const;
  let running = "";
  const bootstraps = new Set<string>();
  for (const [, begun, isSuite, word, name = "", seconds] of log.matchAll(
    /=== (?:RUN|CONT|NAME) +(\S+)$|(Running Suite: )|--- (PASS|FAIL|SKIP): (\S+) \((\d+\.\d+)s\)/gm,
  )) {
    if (begun) running = begun;
    else if (isSuite) bootstraps.add(running);
    else {
      const outcome = outcomes[word as keyof typeof outcomes];
      specs.push({ name, outcome, seconds: Number(seconds), ...(outcome === "failed" && { failure: "see its log" }) });
    }
  }
  const groups = new Set(
    specs.flatMap(({ name }) => [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index))),
  );
  return specs.filter(({ name }) => !groups.has(name) && !(isReported && bootstraps.has(name)));
}
