import { expect, setDefaultTimeout, test } from "bun:test";
import { allCases } from "./all-cases.ts";
import { type Case, runCases } from "./case.ts";
import { compareCases, type ExchangeDifference } from "./compare.ts";
import { normalizeCase } from "./normalize.ts";
import { loadRecording } from "./recording.ts";
import { report } from "./report.ts";
import { targetUnderTest } from "./servers.ts";

setDefaultTimeout(600_000);

/** Another program has the code of these sources: a twelfth of the cases shows that its runtime behaves alike. */
const every = process.env["BINNACLE_PROGRAM"] ? 12 : 1;

/** Cases that are played at the same time, because most of them wait at times, such as for a watch to end. */
const AT_ONCE = 8;

test("createApiServer answers as kube-apiserver was recorded to", async () => {
  const { served, records } = await loadRecording();
  const expected = new Map(records.map((record) => [record.name, record]));
  const play = async (cases: readonly Case[], atOnce: number): Promise<[count: number, ExchangeDifference[]]> => {
    await using target = await targetUnderTest();
    const answers = await runCases(target, cases, atOnce);
    const differing = answers.flatMap((record) => compareCases(expected.get(record.name), normalizeCase(record)));
    return [answers.reduce((sum, { exchanges }) => sum + exchanges.length, 0), differing];
  };
  const all = allCases(served, {});
  const cases = all.filter((_, index) => index % every === 0);
  const [count, first] = await play(cases, AT_ONCE);
  // On a busy machine an event can come after a case has stopped waiting for it.
  const names = new Set(first.map(({ caseName }) => caseName));
  if (names.size > 0) console.log(`played again, one after the other: ${[...names].join(", ")}`);
  const [, differing] =
    names.size > 0
      ? await play(
          cases.filter((one) => names.has(one.name)),
          1,
        )
      : [0, []];
  console.log(`${count} exchanges of ${cases.length} cases, ${differing.length} differ`);
  if (differing.length > 0) console.log(report(differing, { first: 20 }));
  expect(count).toBeGreaterThan(5000 / every);
  expect(differing.length).toBe(0);
  expect(records.map(({ name }) => name).toSorted()).toEqual(all.map(({ name }) => name).toSorted());
});
