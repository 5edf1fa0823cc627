/** Compression by `node:zlib`. */
import { constants, gunzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";

const STRONGEST = 19;

/** Decompresses gzip, whatever size the result has. @throws Error when the data is not gzip. */
export function gunzipWhole(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return gunzipSync(bytes);
}

/** Compresses as much as zstd can. */
export function zstdCompress(text: string): Uint8Array {
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: STRONGEST } });
}

/** Decompresses zstd. @throws Error when the data is not zstd. */
export function zstdDecompress(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  return zstdDecompressSync(bytes);
}
