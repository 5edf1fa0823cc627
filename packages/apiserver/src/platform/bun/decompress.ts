/** Decompression of the OpenAPI documents. */
import { zstdDecompressSync } from "node:zlib";

/** Returns what `zstd` has packed. */
export function decompress(bytes: Uint8Array): Uint8Array {
  return zstdDecompressSync(bytes);
}
