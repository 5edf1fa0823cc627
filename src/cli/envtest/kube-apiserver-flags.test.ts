import { pluginNames } from "binnacle-apiserver";
import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { flagTypes, honoured } from "./kube-apiserver-flags.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/envtest.md"), "utf8");

test("docs/envtest.md has each flag that has an effect, and every admission plugin", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `--"));
  const flags = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`--([\w-]+)`/g)].map(([, name]) => name));
  const both = flags.flatMap((name) => (name === "enable-" ? "enable-admission-plugins" : (name ?? "")));
  expect(new Set(both)).toEqual(new Set(Object.keys(honoured)));
  expect(Object.keys(honoured).filter((name) => !flagTypes.has(name))).toEqual([]);
  const named = pluginNames.filter((name) => !/Policy$|Webhook$/.test(name) && !page.includes(name));
  expect(named).toEqual([]);
});
