/** The answers of kube-apiserver to the cases, in a file: `npm test` compares with it and needs no control plane. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { CaseRecord } from "./case.ts";
import type { Served } from "./discovery.ts";

const file = join(import.meta.dirname, "recorded.zst");

export interface Recording {
  /** The kinds for which cases are generated. */
  readonly served: readonly Served[];
  /** Normalized records, by case. */
  readonly records: readonly CaseRecord[];
}

export async function loadRecording(): Promise<Recording> {
  return JSON.parse(zstdDecompressSync(await readFile(file)).toString()) as Recording;
}

/** Saves what a comparison reads of the records; of each request that is only the method and the path. */
export async function saveRecording({ served, records }: Recording): Promise<void> {
  const short = records.map(({ exchanges, ...record }) => ({
    ...record,
    exchanges: exchanges.map(({ label, call: { method, path }, answer }) => ({
      label,
      call: { method, path },
      answer,
    })),
  }));
  const params = { [constants.ZSTD_c_compressionLevel]: 19, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  await writeFile(file, zstdCompressSync(JSON.stringify({ served, records: short }), { params }));
}
