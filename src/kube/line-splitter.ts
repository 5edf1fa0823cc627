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
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    let end = buffer.indexOf(NEWLINE);
    if (end < 0) {
      this.#open.push(chunk);
      return;
    }
    if (this.#open.length > 0) {
      this.#open.push(buffer.subarray(0, end));
      const line = Buffer.concat(this.#open).toString("utf8");
      this.#open = [];
      if (line.length > 0) this.#onLine(line);
      start = end + 1;
      end = buffer.indexOf(NEWLINE, start);
    }
    while (end >= 0) {
      if (end > start) this.#onLine(buffer.toString("utf8", start, end));
      start = end + 1;
      end = buffer.indexOf(NEWLINE, start);
    }
    if (start < buffer.length) this.#open.push(buffer.subarray(start));
  }

  /** Whether a line has begun and not ended. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }
}
