/** Reads the body of a response that may be endless. */

/** The body has more bytes than the reader accepts; the rest was not read. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
  readonly most: number;

  constructor(most: number) {
    super(`it is larger than ${sizeOf(most)}`);
    this.most = most;
  }
}

function sizeOf(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.floor(bytes / 1024)} KiB` : `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

/**
 * Reads a decompressed body of at most `most` bytes.
 *
 * @throws BodyTooLarge, after which the connection is given up, or the errors of reading.
 */
export async function boundedBytes(response: Response, most: number): Promise<Uint8Array> {
  if (hasKnownLength(response, most)) return response.bytes();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) break;
    bytes += value.length;
    if (bytes > most) {
      await reader?.cancel().catch(() => {});
      throw new BodyTooLarge(most);
    }
    pieces.push(value);
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes);
}

/** Whether the platform itself ends the body in time; a compressed one may grow to any size. */
function hasKnownLength(response: Response, most: number): boolean {
  const length = response.headers.get("content-length");
  return length !== null && /^\d+$/.test(length) && Number(length) <= most && !response.headers.has("content-encoding");
}
