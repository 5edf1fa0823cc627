/** Decompression that ends. */

import { BodyTooLarge } from "./bounded-body.ts";

/** The most that deflate makes of one byte. @see https://www.zlib.net/zlib_tech.html */
const MOST_RATIO = 1_032;
/** What becomes no larger than this is made at once, and then looked at. */
const SAFE_BYTES = 64 * 1024 * 1024;
/** A buffer for all at once is twice as fast as one after the other; the sender says how large, but may lie. */
const LARGEST_BUFFER = 16 * 1024 * 1024;
const SMALLEST_BUFFER = 64 * 1024;

/** @throws BodyTooLarge when it becomes more than `most` bytes, or Error for what is no gzip. */
export function gunzip(bytes: Uint8Array<ArrayBuffer>, most: number): Uint8Array<ArrayBuffer> {
  if (bytes.length * MOST_RATIO <= SAFE_BYTES) {
    const made = Bun.gunzipSync(bytes);
    if (made.length > most) throw new BodyTooLarge(most);
    return made;
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
