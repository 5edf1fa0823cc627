/** The columns in which a server shows its kinds as a Table. */
import { type Read, readJson } from "./documents.ts";
import type { TableRow } from "./table-rows.ts";

export async function columns(read: Read, rows: readonly TableRow[]): Promise<string> {
  const lines: string[] = [];
  for (const { group, version, kind, plural, verbs } of rows) {
    if (!verbs.includes("list")) continue;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const path = `${group === "" ? "/api" : "/apis"}/${apiVersion}/${plural}?limit=1`;
    const table = (await readJson(read, path, "application/json;as=Table;v=v1;g=meta.k8s.io")) as {
      readonly columnDefinitions: readonly unknown[];
    };
    lines.push(`${JSON.stringify(`${apiVersion}/${kind}`)}:${JSON.stringify(table.columnDefinitions)}`);
  }
  return `{${lines.join(",\n")}}\n`;
}
