/** Tests docs/monitoring.md: its commands run, and it explains every alert. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ALERTS } from "../../src/cli/deploy/monitoring/alerts.ts";
import { Bench } from "../support/binary.ts";
import { greetingOf } from "./faults.ts";

const page = await readFile(join(import.meta.dirname, "../../docs/monitoring.md"), "utf8");

test("docs/monitoring.md explains each alert, in their order", () => {
  const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(ALERTS.map(({ name }) => name));
});

test("the commands of docs/monitoring.md run", async () => {
  await using bench = await Bench.create();
  for (const [file, text] of Object.entries(greetingOf("hello"))) await bench.write(`hello/${file}`, text);
  const lines = [...page.matchAll(/^dist\/binnacle (.+?)(?: > .+)?$/gm)].map(([, line]) => line!);
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) {
    const { code, stdout, stderr } = await bench.exec(...line.split(" "));
    expect([line, code, stderr]).toEqual([line, 0, ""]);
    expect(stdout).toMatch(/kind: PrometheusRule|Wrote \d+ files/);
  }
});
