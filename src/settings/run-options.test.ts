import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Option } from "./option.ts";
import { runOption, runOptions, runSettings } from "./run-options.ts";

test("runSettings has the defaults of the flags, but no listeners and no error budget", () => {
  const settings = runSettings({ "grace-period": 5, concurrency: undefined });
  expect(settings).toMatchObject({
    "grace-period": 5,
    concurrency: runOption("concurrency").default,
    "leader-election-renew-deadline": 10_000,
    controllers: ["./controllers"],
    "health-probe-bind-address": "0",
    "metrics-bind-address": "0",
    "webhook-bind-address": "0",
    "error-budget": false,
  });
  expect(settings.namespace).toBeUndefined();
});

test("the reference names flags that exist, with their defaults", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/reference.md"), "utf8");
  const [, table = ""] = /\n\| Flag of `run` .*\n\|[-| ]+\n((?:\|.*\n)+)/.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `--([\w-]+)`[^|]*\| ([^|,]*[^|, ])/gm)];
  expect(rows.length).toBeGreaterThan(20);
  const options: readonly Option[] = runOptions;
  for (const [, name, shown] of rows) {
    const option = options.find((one) => one.name === name);
    expect([name, shown]).toEqual([option?.name, option?.default === undefined ? shown : cellOf(option.default)]);
  }
});

function cellOf(value: unknown): string {
  if (value === false || value === "false") return "off";
  if (value === true) return "on";
  return typeof value === "number" ? String(value) : `\`${String(value)}\``;
}
