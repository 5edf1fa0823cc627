/**
 * Generates the tables of `packages/apiserver/src/tables/` from a real server and the Go types of its release.
 *
 *     bun packages/apiserver/scripts/generate-tables.ts --kubeconfig FILE
 *
 * `--check` writes nothing and fails when the tables are not what would be written. The server must have nothing
 * installed: its own kinds only.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { goTypes } from "./go-types.ts";
import { rawDocuments } from "./raw-documents.ts";
import { tableRows } from "./table-rows.ts";
import { typeTable } from "./table-types.ts";

const target = join(import.meta.dirname, "../src/tables");

const options = await yargs(hideBin(process.argv))
  .scriptName("generate-tables")
  .option("kubeconfig", { type: "string", demandOption: true, describe: "take the documents from this server" })
  .option("check", { type: "boolean", default: false, describe: "write nothing, fail when a table would change" })
  .strict()
  .parse();

try {
  const files = await tables();
  const stale: string[] = [];
  for (const [file, text] of files) {
    const before = await readFile(join(target, file), "utf8").catch(() => undefined);
    if (before === text) continue;
    stale.push(file);
    if (!options.check) await writeFile(join(target, file), text);
  }
  if (options.check && stale.length > 0) throw new Error(`not what the server says: ${stale.join(", ")}`);
  console.log(`${files.size} tables, ${stale.length} changed`);
} catch (error) {
  console.error(`generate-tables: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function tables(): Promise<Map<string, string>> {
  const documents = await rawDocuments(options.kubeconfig);
  const rows = tableRows(documents);
  const schemas = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [name, bytes] of documents.openApi) {
    if (!name.startsWith("v3/api")) continue;
    const { components } = JSON.parse(new TextDecoder().decode(bytes)) as {
      components?: { schemas?: Record<string, Record<string, unknown>> };
    };
    for (const [id, schema] of Object.entries(components?.schemas ?? {})) schemas.set(id, schema);
  }
  const kinds = new Set(rows.map((row) => `${row.group}/${row.version}/${row.kind}`));
  const lines = rows.map((row) => JSON.stringify(row)).join(",\n");
  const documentList = [...documents.openApi].map(([name, bytes]) => [
    name,
    bytes.length,
    documents.hashes.get(name) ?? "",
  ]);
  return new Map([
    ["kinds.txt", `[\n${lines}\n]\n`],
    ["types.txt", JSON.stringify(typeTable(schemas, { go: goTypes(), kinds }))],
    ["documents.txt", `${JSON.stringify(documentList)}\n${packed([...documents.openApi.values()])}`],
  ]);
}

/** Packs all documents into one archive, because they have much in common; in base64, because it is imported as text. */
function packed(documents: readonly Uint8Array[]): string {
  const params = {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    [constants.ZSTD_c_windowLog]: 24,
  };
  return zstdCompressSync(Buffer.concat(documents), { params }).toString("base64");
}
