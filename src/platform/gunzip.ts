/** Decompresses gzip with a limit. */
import { gunzipWhole } from "#runtime/compression";
import { BodyTooLarge } from "./bounded-body.ts";

/** The maximum number of bytes that deflate makes of one byte. @see https://www.zlib.net/zlib_tech.html */
const MOST_RATIO = 1_032;
/** Data that cannot exceed this size is decompressed at once and checked afterwards. */
const SAFE_BYTES = 64 * 1024 * 1024;
/**
 * The size up to which one buffer is used, which is twice as fast as several; the sender names the size, but may lie.
 */
const LARGEST_BUFFER = 16 * 1024 * 1024;
const SMALLEST_BUFFER = 64 * 1024;

/**
 * Decompresses the bytes.
 *
 * @throws BodyTooLarge when the result exceeds `most` bytes, or Error when the data is not gzip.
 */
export function gunzip(bytes: Uint8Array<ArrayBuffer>, most: number): Uint8Array<ArrayBuffer> {
  if (bytes.length * MOST_RATIO <= SAFE_BYTES) {
    const bytesOut = gunzipWhole(bytes);
    if (bytesOut.length > most) throw new BodyTooLarge(most);
    return bytesOut;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const claimed = view.getUint32(bytes.length - 4, true) + 1;
  const chunkSize = Math.max(SMALLEST_BUFFER, Math.min(claimed, LARGEST_BUFFER, most));
  try {
    return process.getBuiltinModule("node:zlib").gunzipSync(bytes, { maxOutputLength: most, chunkSize });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE")
      throw new BodyTooLarge(most);
    throw error;
  }
}
