import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { complete } from "./complete.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-complete-"));
  writeFileSync(
    join(folder, "kubeconfig"),
    "apiVersion: v1\nkind: Config\ncontexts: [{ name: kind-one, context: {} }, { name: prod, context: {} }]\n",
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the candidates for a line as bash passes it; the last word is the one at the cursor. */
async function candidates(line: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const found = await complete(["binnacle", ...line.replaceAll("DIR", folder).split(" ")], env);
  return found.map(({ word }) => word);
}

test("complete gives commands, then a command's flags", async () => {
  expect(await candidates("")).toEqual(expect.arrayContaining(["run", "dev", "completion"]));
  expect(await candidates("ma")).toEqual(["manifests"]);
  expect(await candidates("run --log")).toEqual(["--log-level", "--log-format"]);
  expect(await candidates("run ")).toContain("--install-crds");
  expect(await candidates("run --strict --str")).toEqual([]);
  expect(await candidates("run --controllers a --contr")).toEqual(["--controllers"]);
});

const values: readonly [line: string, words: readonly string[]][] = [
  ["run --log-level ", ["debug", "info", "warn", "error"]],
  ["run --log-level d", ["debug"]],
  ["run --log-level=d", ["--log-level=debug"]],
  ["run --log-level = d", ["debug"]],
  ["run --log-level =", ["debug", "info", "warn", "error"]],
  ["dev --log-format ", ["json", "pretty"]],
  ["test --server r", ["real"]],
  ["manifests ", ["crds", "rbac", "webhooks", "monitoring", "deploy"]],
  ["manifests --namespace x r", ["rbac"]],
  ["completion ", ["bash", "zsh", "fish"]],
  ["run --kubeconfig DIR/kubeconfig --context ", ["kind-one", "prod"]],
  ["run --context p --kubeconfig DIR/kubeconfig --context p", ["prod"]],
];
test.each(values)("complete gives values: %s", async (line, words) => {
  expect(await candidates(line)).toEqual([...words]);
});

test("complete takes contexts from $KUBECONFIG, and none where it cannot be read", async () => {
  expect(await candidates("run --context k", { KUBECONFIG: join(folder, "kubeconfig") })).toEqual(["kind-one"]);
  expect(await candidates("run --kubeconfig DIR/none --context ")).toEqual([]);
});

test("complete leaves paths to the shell", async () => {
  expect(await candidates("run --controllers ")).toEqual([]);
  expect(await candidates("apiserver --data ")).toEqual([]);
  expect(await candidates("test contr")).toEqual([]);
});
