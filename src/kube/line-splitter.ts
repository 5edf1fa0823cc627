/** Cuts a stream of bytes into lines, wherever the pieces begin and end. */

const NEWLINE = 10;

/** Bytes are joined before they are decoded: a piece may end within a character. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  /** Pieces of a line that has not ended yet. */
  #open: Uint8Array[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    let end = chunk.indexOf(NEWLINE);
    if (end < 0) {
      this.#open.push(chunk);
      return;
    }
    let start = 0;
    if (this.#open.length > 0) {
      this.#open.push(chunk.subarray(0, end));
      const line = Buffer.concat(this.#open);
      this.#open = [];
      if (line.length > 0) this.#onLine(line.toString());
      start = end + 1;
      end = chunk.indexOf(NEWLINE, start);
    }
    if (end >= 0) {
      // What a socket gives is a buffer already.
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      do {
        if (end > start) this.#onLine(bytes.toString("utf8", start, end));
        start = end + 1;
        end = chunk.indexOf(NEWLINE, start);
      } while (end >= 0);
    }
    if (start < chunk.length) this.#open.push(chunk.subarray(start));
  }

  /** Whether a line has begun and not ended. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }
}
