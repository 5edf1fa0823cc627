/**
 * Generates `packages/apiserver/src/printers/columns.txt`: the columns in which the real server shows its kinds as a Table.
 *
 *     bun packages/apiserver/scripts/generate-columns.ts [--check]
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiVersionOf, discover, pathOf } from "../differential/discovery.ts";
import { realTarget } from "../differential/target.ts";

const file = join(import.meta.dirname, "../src/printers/columns.txt");

await using target = await realTarget();
const lines: string[] = [];
for (const served of await discover(target)) {
  if (!served.verbs.includes("list")) continue;
  const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  const path = `${pathOf(served, undefined)}?limit=1`;
  const table = (await (await target.fetch(new Request(`https://server${path}`, { headers }))).json()) as {
    columnDefinitions: unknown[];
  };
  lines.push(`${JSON.stringify(`${apiVersionOf(served)}/${served.kind}`)}:${JSON.stringify(table.columnDefinitions)}`);
}
const text = `{${lines.join(",\n")}}\n`;
if (!process.argv.includes("--check")) await writeFile(file, text);
else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
  console.error("generate-columns: columns.txt is not what the server says");
  process.exitCode = 1;
}
