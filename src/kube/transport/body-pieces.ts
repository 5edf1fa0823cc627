/** Collects the chunks of a body up to a limit. */

/** The overhead of a chunk, so that a body of single bytes cannot become a hundred times as large. */
const PIECE_BYTES = 256;
/** A chunk keeps the whole buffer of its read in memory, so a chunk that is a small part of its buffer is copied. */
const WORTH_COPYING = 4;

export class BodyPieces {
  readonly #most: number;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a chunk. @returns false, without adding it, when the body would exceed the limit. */
  add(piece: Uint8Array): boolean {
    const bytes = this.#bytes + piece.length;
    if (bytes + this.#pieces.length * PIECE_BYTES > this.#most) return false;
    this.#bytes = bytes;
    this.#pieces.push(piece.length * WORTH_COPYING < piece.buffer.byteLength ? piece.slice() : piece);
    return true;
  }

  whole(): Uint8Array {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#bytes);
  }
}
