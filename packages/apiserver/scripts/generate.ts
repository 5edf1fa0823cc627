/**
 * Generates the tables of Kubernetes' kinds in `packages/apiserver/src/`, from a kube-apiserver that it starts and the
 * Go modules of its release.
 *
 *     bun packages/apiserver/scripts/generate.ts [--check]
 *
 * `--check` writes nothing and fails when a file would change. Needs Go.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { parseArgs } from "node:util";
import { startControlPlane } from "../../../scripts/controlplane/controlplane.ts";
import { columns } from "./columns.ts";
import { type Documents, documentsOf, type Read } from "./documents.ts";
import { goTypes } from "./go-types.ts";
import { protobufMessages } from "./protobuf-messages.ts";
import { seed } from "./seed.ts";
import { type TableRow, tableRows } from "./table-rows.ts";
import { typeTable } from "./table-types.ts";

const source = join(import.meta.dirname, "../src");
const { check } = parseArgs({ options: { check: { type: "boolean", default: false } } }).values;

const stale: string[] = [];
for (const [file, text] of await files()) {
  const path = join(source, file);
  if ((await readFile(path, "utf8").catch(() => undefined)) === text) continue;
  stale.push(file);
  if (!check) await writeFile(path, text);
}
console.log(stale.length === 0 ? "nothing changed" : `changed: ${stale.join(", ")}`);
if (check && stale.length > 0) process.exitCode = 1;

async function files(): Promise<readonly (readonly [file: string, text: string])[]> {
  await using controlPlane = await startControlPlane();
  const read: Read = async (path, accept = "application/json") => {
    const response = await controlPlane.request(path, { headers: { accept } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return await response.bytes();
  };
  const documents = await documentsOf(read);
  const rows = tableRows(documents);
  return [
    ["tables/kinds.txt", `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`],
    ["tables/types.txt", types(documents, rows)],
    ["tables/documents.txt", packed(documents)],
    ["printers/columns.txt", await columns(read, rows)],
    ["seed/objects.txt", await seed(read)],
    ["protobuf/messages.txt", protobufMessages()],
  ];
}

function types({ openApi }: Documents, rows: readonly TableRow[]): string {
  const schemas = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [name, bytes] of openApi) {
    if (!name.startsWith("v3/api")) continue;
    const { components } = JSON.parse(new TextDecoder().decode(bytes)) as {
      components?: { schemas?: Record<string, Record<string, unknown>> };
    };
    for (const [id, schema] of Object.entries(components?.schemas ?? {})) schemas.set(id, schema);
  }
  const kinds = new Set(rows.map((row) => `${row.group}/${row.version}/${row.kind}`));
  return JSON.stringify(typeTable(schemas, { go: goTypes(), kinds }));
}

/**
 * Packs all documents into one archive, because they have much in common; in base64, because it is imported as text.
 */
function packed({ openApi, hashes }: Documents): string {
  const params = {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    [constants.ZSTD_c_windowLog]: 24,
  };
  const list = [...openApi].map(([name, bytes]) => [name, bytes.length, hashes.get(name) ?? ""]);
  const archive = zstdCompressSync(Buffer.concat([...openApi.values()]), { params });
  return `${JSON.stringify(list)}\n${archive.toString("base64")}`;
}
