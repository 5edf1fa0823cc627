/** Counts frames of a server that carry no response, so that no server can use up this process's time or memory. */
import {
  MOST_HEADER_BYTES,
  MOST_HEADER_FRAMES,
  MOST_IDLE_FRAMES,
  MOST_UNREAD_ACKS,
  MOST_UNWANTED_BYTES,
} from "../limits.ts";

/**
 * The server sends more than it has a reason to send; the message names the kind of frames. The request is not retried
 * at once.
 */
export class Flood extends Error {}

/** Guards one connection. A `Flood` that it throws ends the connection and becomes its error. */
export class FloodGuard {
  /** Consecutive frames that brought no response nearer. */
  #idle = 0;
  /** Consecutive bytes of responses that were cancelled or have ended. */
  #unwanted = 0;
  /** Acknowledgements of PING and SETTINGS frames since the socket last took everything. */
  #acks = 0;
  /** Our pings that the server has not acknowledged. */
  #pings = 0;

  /** A part of a response has arrived. */
  progress(): void {
    this.#idle = 0;
    this.#unwanted = 0;
  }

  /** A frame has arrived that brings no response nearer. */
  unproductive(): void {
    if (++this.#idle > MOST_IDLE_FRAMES) throw new Flood(`${MOST_IDLE_FRAMES} frames in a row without a response`);
  }

  /** We send a ping. */
  pinged(): void {
    this.#pings++;
  }

  /** The server acknowledged a ping: ours, or one that was never sent. */
  ponged(): void {
    if (this.#pings > 0) this.#pings--;
    else this.unproductive();
  }

  /** A part of a cancelled response has arrived: some of it may have been under way, but not without end. */
  unwanted(bytes: number): void {
    this.unproductive();
    this.#unwanted += bytes;
    if (this.#unwanted > MOST_UNWANTED_BYTES) throw new Flood("it keeps sending responses that were cancelled");
  }

  /**
   * A PING or SETTINGS frame is about to be acknowledged. Acknowledgements that the server does not read stay in our
   * buffer.
   */
  acknowledge(): void {
    this.unproductive();
    if (++this.#acks > MOST_UNREAD_ACKS) {
      throw new Flood(`${MOST_UNREAD_ACKS} PING or SETTINGS frames without reading the acknowledgements`);
    }
  }

  /** The socket has accepted all waiting bytes. */
  written(): void {
    this.#acks = 0;
  }
}

/** A field block that continues in CONTINUATION frames (RFC 9113, section 6.10). */
export class FieldBlockFragments {
  readonly streamId: number;
  readonly isEnd: boolean;
  readonly #parts: Uint8Array[];
  #bytes: number;

  constructor(stream: number, isEnd: boolean, first: Uint8Array) {
    this.streamId = stream;
    this.isEnd = isEnd;
    this.#parts = [first];
    this.#bytes = first.length;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > MOST_HEADER_BYTES || this.#parts.push(part) > MOST_HEADER_FRAMES) {
      throw new Flood("field block without an end");
    }
  }

  whole(): Uint8Array {
    return Buffer.concat(this.#parts, this.#bytes);
  }
}
