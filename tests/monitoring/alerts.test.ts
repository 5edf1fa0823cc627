/**
 * Tests the alerts with promtool on recorded faults: each fires in the faults that it is about, and in no other.
 * `record.ts` makes the recordings anew.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALERTS } from "../../src/cli/deploy/monitoring/alerts.ts";
import { prometheusRule } from "../../src/cli/deploy/monitoring/prometheus-rule.ts";
import { FAULTS } from "./faults.ts";
import { promtool, runPromtool } from "./promtool.ts";
import { INTERVAL, OPERATOR, RECORDINGS, SCRAPES } from "./scraped-series.ts";

const program = await promtool();
const { groups } = prometheusRule({ account: OPERATOR }).spec;

describe.skipIf(program === undefined)("alerts", () => {
  let folder: string;
  let rules: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "binnacle-alerts-"));
    rules = join(folder, "rules.json");
    await writeFile(rules, JSON.stringify({ groups }));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("promtool finds nothing wrong with the rules", async () => {
    expect(await runPromtool(program!, "check", "rules", "--lint=all", "--lint-fatal", rules)).toContain(
      `${ALERTS.length} rules found`,
    );
  });

  test.each(FAULTS.map(({ name, alerts }) => [name, alerts] as const))(
    "of the recorded fault '%s' those that fire are %j",
    async (name, alerts) => {
      const series = JSON.parse(await readFile(join(RECORDINGS, `${name}.json`), "utf8")) as object[];
      const file = join(folder, `${name}.json`);
      const firing = (expr: string, fired: readonly string[], at: number): object => ({
        expr: `count by (alertname) (${expr})`,
        eval_time: `${at}s`,
        exp_samples: fired.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      });
      const unique = `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1h]))`;
      const end = INTERVAL * SCRAPES;
      const tests = [
        {
          interval: `${INTERVAL}s`,
          input_series: series,
          promql_expr_test: [firing(unique, alerts, end), firing(unique, [], 60)],
        },
      ];
      await writeFile(file, JSON.stringify({ rule_files: [rules], evaluation_interval: `${INTERVAL}s`, tests }));
      expect(await runPromtool(program!, "test", "rules", file)).toContain("SUCCESS");
    },
  );
});

test("every alert has a fault in which it fires, every fault a recording, and no recording is left over", async () => {
  const provoked = new Set(FAULTS.flatMap(({ alerts }) => alerts));
  expect(ALERTS.map(({ name }) => name).filter((name) => !provoked.has(name))).toEqual([]);
  expect((await readdir(RECORDINGS)).sort()).toEqual(FAULTS.map(({ name }) => `${name}.json`).sort());
});
