/** Cuts a stream of bytes into lines, wherever the pieces begin and end. */

const STREAM = { stream: true };
/** Pieces of a line may be as short as this on the average; shorter ones are put together as they come. */
const PIECE_CHARACTERS = 64;
const FEW_PIECES = 1_000;

export interface LineSplitterOptions {
  /** What is cut, for the error, such as `the watch of /api/v1/pods`. */
  readonly what: string;
  /** The most characters of a line. */
  readonly most: number;
  readonly onLine: (line: string) => void;
}

export class LineSplitter {
  readonly #options: LineSplitterOptions;
  readonly #onLine: (line: string) => void;
  /** Keeps the bytes of a character that has not ended. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Of a line that has not ended yet. */
  #open = "";
  /** That the line so far was put together of. */
  #pieces = 0;

  constructor(options: LineSplitterOptions) {
    this.#options = options;
    this.#onLine = options.onLine;
  }

  /** What has come since the last line ended. */
  get rest(): string {
    return this.#open;
  }

  /** @throws Error when a line does not end, or what the listener throws. */
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

/** The engine keeps the pieces of a text as they are, each with 32 bytes of its own, until a character is asked for. */
function inOnePiece(text: string): string {
  return Number.isNaN(text.charCodeAt(0)) ? "" : text;
}
