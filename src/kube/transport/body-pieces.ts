/** A body that is kept until it is complete, no more of it than it may have. */

/** What a piece costs beside its bytes: bodies of single bytes are not to become a hundred times as large. */
const PIECE_BYTES = 256;
/** A piece keeps all that was read together with it; a small part of that is worth a copy. */
const WORTH_COPYING = 4;

export class BodyPieces {
  readonly #most: number;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns false when it would be too much; the piece is then not kept. */
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
