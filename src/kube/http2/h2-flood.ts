/** Counts what a server sends without answering, so that none can keep this process busy or full for nothing. */
import {
  MOST_HEADER_BYTES,
  MOST_HEADER_FRAMES,
  MOST_IDLE_FRAMES,
  MOST_UNREAD_ACKS,
  MOST_UNWANTED_BYTES,
} from "../limits.ts";

/** More than a server has a reason to send; the message says of what. It is not asked again at once. */
export class Flood extends Error {}

/** Of one connection. What it throws ends the connection, and is the reason that is told. */
export class FloodGuard {
  /** Frames in a row that brought no answer nearer. */
  #idle = 0;
  /** Bytes in a row of answers that have ended here. */
  #unwanted = 0;
  /** Answers to pings and settings since all that was to be written had been taken. */
  #acks = 0;
  /** Pings of ours that were not answered yet. */
  #pings = 0;

  /** A part of an answer has come. */
  progress(): void {
    this.#idle = 0;
    this.#unwanted = 0;
  }

  /** A frame has come that brings no answer nearer. */
  idle(): void {
    if (++this.#idle > MOST_IDLE_FRAMES) throw new Flood(`${MOST_IDLE_FRAMES} frames in a row without an answer`);
  }

  /** A ping of ours goes out. */
  pinged(): void {
    this.#pings++;
  }

  /** A ping of ours was answered, or one that never was. */
  ponged(): void {
    if (this.#pings > 0) this.#pings--;
    else this.idle();
  }

  /** A part of an answer has come that has ended here: some of it may be under way, but not for ever. */
  unwanted(bytes: number): void {
    this.idle();
    this.#unwanted += bytes;
    if (this.#unwanted > MOST_UNWANTED_BYTES) throw new Flood("it goes on with answers that were cancelled");
  }

  /** A ping or settings are about to be answered. What a server does not read stays here. */
  acknowledge(): void {
    this.idle();
    if (++this.#acks > MOST_UNREAD_ACKS) {
      throw new Flood(`${MOST_UNREAD_ACKS} pings or settings, and it does not read the answers`);
    }
  }

  /** The server has taken all that was to be written. */
  written(): void {
    this.#acks = 0;
  }
}

/** The headers of an answer whose first frame does not hold them all. */
export class HeaderParts {
  readonly stream: number;
  readonly isEnd: boolean;
  readonly #parts: Uint8Array[];
  #bytes: number;

  constructor(stream: number, isEnd: boolean, first: Uint8Array) {
    this.stream = stream;
    this.isEnd = isEnd;
    this.#parts = [first];
    this.#bytes = first.length;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > MOST_HEADER_BYTES || this.#parts.push(part) > MOST_HEADER_FRAMES) {
      throw new Flood("headers without an end");
    }
  }

  whole(): Uint8Array {
    return Buffer.concat(this.#parts, this.#bytes);
  }
}
