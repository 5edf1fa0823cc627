/** Cuts a stream of bytes into lines, wherever the pieces begin and end. */

const STREAM = { stream: true };

export class LineSplitter {
  readonly #onLine: (line: string) => void;
  /** Keeps the bytes of a character that has not ended. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Of a line that has not ended yet. */
  #open = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, STREAM);
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const line = this.#open + text.slice(start, end);
      this.#open = "";
      start = end + 1;
      if (line.length > 0) this.#onLine(line);
    }
    if (start < text.length) this.#open += text.slice(start);
  }
}
