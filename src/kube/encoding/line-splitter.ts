/** Splits a stream of bytes into lines, whatever its chunks are. */

const STREAM = { stream: true };
/** The least average length of an incomplete line's pieces; shorter ones are joined as they arrive. */
const PIECE_CHARACTERS = 64;
const FEW_PIECES = 1_000;

export interface LineSplitterOptions {
  /** The name of the stream for errors, such as `the watch of /api/v1/pods`. */
  readonly what: string;
  /** The most characters of a line. */
  readonly most: number;
  readonly onLine: (line: string) => void;
}

export class LineSplitter {
  readonly #options: LineSplitterOptions;
  readonly #onLine: (line: string) => void;
  /** Keeps the bytes of an incomplete character. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The beginning of an incomplete line. */
  #open = "";
  /** The number of pieces that the incomplete line consists of. */
  #pieces = 0;

  constructor(options: LineSplitterOptions) {
    this.#options = options;
    this.#onLine = options.onLine;
  }

  /** The text after the last complete line. */
  get rest(): string {
    return this.#open;
  }

  /** Takes a chunk. @throws Error when a line is too long, or the error of the listener. */
  push(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, STREAM);
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const line = this.#open + text.slice(start, end);
      this.#open = "";
      this.#pieces = 0;
      start = end + 1;
      this.#onLine(line);
    }
    if (start < text.length) this.#keep(text.slice(start));
  }

  #keep(piece: string): void {
    this.#open += piece;
    const { length } = this.#open;
    const { what, most } = this.#options;
    if (length > most) throw new Error(`Cannot read ${what}: a line of it is longer than ${most / 1024 / 1024} MiB`);
    if (++this.#pieces < FEW_PIECES + length / PIECE_CHARACTERS) return;
    this.#open = inOnePiece(this.#open);
    this.#pieces = 0;
  }
}

/** Joins the pieces of a string: the engine keeps them separately, at 32 bytes each, until a character is read. */
function inOnePiece(text: string): string {
  return Number.isNaN(text.charCodeAt(0)) ? "" : text;
}
