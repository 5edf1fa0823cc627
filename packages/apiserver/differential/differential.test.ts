import { expect, setDefaultTimeout, test } from "bun:test";
import { allCases } from "./all-cases.ts";
import { runCases } from "./case.ts";
import { compareCases } from "./compare.ts";
import { normalizeCase } from "./normalize.ts";
import { loadRecording } from "./recording.ts";
import { report } from "./report.ts";
import { targetUnderTest } from "./servers.ts";

setDefaultTimeout(600_000);

/** Another program has the code of these sources: a twelfth of the cases shows that its runtime behaves alike. */
const every = process.env["BINNACLE_PROGRAM"] ? 12 : 1;

/**
 * Cases that are played at the same time, because most of them wait at times: for a watch to end, or for later work of
 * a server.
 */
const AT_ONCE = 8;

test("createApiServer answers as kube-apiserver was recorded to", async () => {
  const { served, records } = await loadRecording();
  const cases = allCases(served, {}).filter((_, index) => index % every === 0);
  const expected = new Map(records.map((record) => [record.name, record]));
  await using target = await targetUnderTest();
  const answers = await runCases(target, cases, AT_ONCE);
  const differing = answers.flatMap((record) => compareCases(expected.get(record.name), normalizeCase(record)));
  const count = answers.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  console.log(`${count} exchanges of ${answers.length} cases, ${differing.length} differ`);
  if (differing.length > 0) console.log(report(differing, { first: 20 }));
  expect(count).toBeGreaterThan(5000 / every);
  expect(differing.length).toBe(0);
  if (every === 1) expect(records.map(({ name }) => name).toSorted()).toEqual(cases.map(({ name }) => name).toSorted());
});
