/** Decompression of the OpenAPI documents, which the build of the package packs by Brotli: Node 20 knows no Zstandard. */
import { brotliDecompressSync } from "node:zlib";

/** Returns what Brotli has packed. */
export function decompress(bytes: Uint8Array): Uint8Array {
  return brotliDecompressSync(bytes);
}
