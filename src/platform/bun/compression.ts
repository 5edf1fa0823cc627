/** Compression by Bun. */

/** Decompresses gzip, whatever size the result has. @throws Error when the data is not gzip. */
export function gunzipWhole(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return Bun.gunzipSync(bytes);
}

/** Compresses as much as zstd can. */
export function zstdCompress(text: string): Uint8Array {
  return Bun.zstdCompressSync(text, { level: 19 });
}

/** Decompresses zstd. @throws Error when the data is not zstd. */
export function zstdDecompress(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  return Bun.zstdDecompressSync(bytes);
}
