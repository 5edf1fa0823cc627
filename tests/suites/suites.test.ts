import { expect, test } from "bun:test";
import { fifth } from "./e2e.ts";
import { focusOn } from "./focus.ts";
import { PartRuns } from "./part-runs.ts";
import type { Expectation } from "./record.ts";
import { type Spec, specsOfLog, specsOfReport } from "./spec.ts";

const spec = (name: string, outcome: Spec["outcome"]): Spec => ({ name, outcome, seconds: 1 });

test("a Ginkgo report tells specs that ran, that skipped themselves, and what failed around them", () => {
  const report = [
    {
      SpecReports: [
        { LeafNodeType: "BeforeSuite", LeafNodeText: "", State: "passed" },
        {
          LeafNodeType: "It",
          ContainerHierarchyTexts: ["client"],
          LeafNodeText: "reads",
          State: "passed",
          RunTime: 2e9,
        },
        { LeafNodeType: "It", ContainerHierarchyTexts: ["client"], LeafNodeText: "reads", State: "panicked" },
        { LeafNodeType: "It", LeafNodeText: "waits", State: "pending" },
        { LeafNodeType: "It", LeafNodeText: "needs two nodes", State: "skipped", Failure: { Message: "one node" } },
        { LeafNodeType: "It", LeafNodeText: "of another focus", State: "skipped" },
        {
          LeafNodeType: "AfterSuite",
          State: "failed",
          Failure: { Message: "a\n  b", Location: { FileName: "/x/pkg/client/suite.go", LineNumber: 7 } },
        },
      ],
    },
  ];
  expect(specsOfReport(JSON.stringify(report))).toEqual([
    { name: "client reads", outcome: "passed", seconds: 2 },
    { name: "client reads #2", outcome: "failed", seconds: 0, failure: ":0: panicked" },
    { name: "waits", outcome: "skipped", seconds: 0 },
    { name: "needs two nodes", outcome: "skipped", seconds: 0 },
    { name: "[AfterSuite]", outcome: "failed", seconds: 0, failure: "pkg/client/suite.go:7: a b" },
  ]);
  expect(specsOfReport("null")).toEqual([]);
});

test("the log of a Go program tells its tests, but not the one whose specs Ginkgo reports", () => {
  const log = [
    "=== RUN   TestClient",
    "Running Suite: Client Suite - /x",
    "--- FAIL: TestClient (4.28s)",
    "=== RUN   TestOther",
    "=== RUN   TestOther/part",
    "    --- PASS: TestOther/part (0.00s)",
    "no end of line--- PASS: TestOther (0.50s)",
    "=== RUN   TestThird",
    "--- FAIL: TestThird (0.00s)",
  ].join("\n");
  expect(specsOfLog(log, false).map(({ name }) => name)).toEqual(["TestClient", "TestOther/part", "TestThird"]);
  expect(specsOfLog(log, true)).toEqual([
    { name: "TestOther/part", outcome: "passed", seconds: 0 },
    { name: "TestThird", outcome: "failed", seconds: 0, failure: "see its log" },
  ]);
});

/** The counts and failures of one run beside a record. */
async function reportOf(record: Expectation["specs"], specs: readonly Spec[]) {
  const runs = new PartRuns([{ id: "part", record: { seconds: 1, specs: record }, run: async () => specs }]);
  const { files } = await runs.run("part");
  return files[0]!;
}

test("a spec has failed when it passes on the real control plane and not here, or did not run, or fails and is new", async () => {
  const record = {
    same: "passed",
    worse: "passed",
    absent: "passed",
    neither: "failed",
    better: "failed",
    left: "skipped",
  } as const;
  const here = [spec("same", "passed"), spec("worse", "failed"), spec("neither", "failed"), spec("better", "passed")];
  expect(await reportOf(record, [...here, spec("new", "failed"), spec("left", "skipped")])).toMatchObject({
    passed: 2,
    failed: 3,
    skipped: 2,
    failures: ["worse", "new", "absent"],
  });
});

test("the second run of a part is about what failed in the first one, three times at most", async () => {
  const requests: (readonly string[] | undefined)[] = [];
  const run = async (again?: readonly string[]): Promise<readonly Spec[]> => {
    requests.push(again);
    if (again === undefined)
      return [spec("a", "passed"), spec("b", "failed"), spec("c", "failed"), spec("[x]", "failed")];
    return [spec("b", requests.length === 3 ? "passed" : "failed"), spec("c", "failed")].filter(({ name }) =>
      again.includes(name),
    );
  };
  const record = { seconds: 1, specs: { a: "passed", b: "passed", c: "passed" } } as const;
  const runs = new PartRuns([{ id: "part", record, run }]);
  expect((await runs.run("part")).files[0]).toMatchObject({ passed: 1, failed: 3 });
  expect((await runs.run("part")).files[0]).toMatchObject({ passed: 2, failed: 1 });
  expect(requests).toEqual([undefined, ["b", "c", "[x]"], ["b", "c"], ["c"]]);
  expect(runs.failures()).toEqual(["part: c: failed"]);
  expect(runs.table()[1]).toMatch(/^part +2 +1 +0 +\d+ +1$/);
});

test("the fifth of Kubernetes' own suite is the same for every order, and its filter means exactly these specs", () => {
  const names = Array.from({ length: 500 }, (_, at) => `[sig-x] spec (${at}) [Conformance]`);
  const some = fifth(names);
  expect(some.length).toBeWithin(70, 131);
  expect(new Set(fifth(names.toReversed()))).toEqual(new Set(some));
  const focus = focusOn(["a.b (c)", "d #2"]);
  for (const [name, isMeant] of [
    ["a.b (c)", true],
    ["Suite a.b (c)", true],
    ["axb (c)", false],
    ["d e", false],
  ] as const) {
    expect([name, new RegExp(focus).test(name)]).toEqual([name, isMeant]);
  }
});
