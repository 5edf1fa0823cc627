/** Sends the bodies of requests, no more of them than the server takes. @see https://www.rfc-editor.org/rfc/rfc9113#section-5.2 */
import { DATA, END_STREAM, type FrameWriter, LARGEST } from "./h2-frames.ts";

/** What the standard says as long as the server says nothing else. */
const WINDOW = 65_535;
const FRAME_BYTES = 16_384;
const MOST_FRAME_BYTES = 2 ** 24 - 1;

/** A request, as far as its body is concerned. */
export interface Outgoing {
  readonly id: number;
  /** Bytes that the server takes of it now. */
  window: number;
  /** What it has not taken yet; undefined when nothing is left. */
  unsent: Uint8Array | undefined;
}

export class BodySender {
  readonly #frames: FrameWriter;
  /** Of all bodies together. */
  #window = WINDOW;
  /** Of a new one. */
  #initial = WINDOW;
  #frameBytes = FRAME_BYTES;
  /** With something left, in the order they came. */
  readonly #waiting = new Set<Outgoing>();

  constructor(frames: FrameWriter) {
    this.#frames = frames;
  }

  get frameBytes(): number {
    return this.#frameBytes;
  }

  /** Once, after the headers. */
  send(outgoing: Outgoing, body: string): void {
    outgoing.window = this.#initial;
    // Nearly every body fits, whatever its characters: it is encoded where it is sent from.
    if (body.length * 3 <= Math.min(this.#window, outgoing.window, this.#frameBytes)) {
      const sent = this.#frames.body(outgoing.id, body);
      this.#window -= sent;
      outgoing.window -= sent;
      return;
    }
    outgoing.unsent = Buffer.from(body, "utf8");
    this.#waiting.add(outgoing);
    this.#go(outgoing);
  }

  /**
   * The server takes more of this body, or of all when there is none.
   *
   * @returns whether something was sent.
   * @throws Error when it takes more than a window may hold.
   */
  open(outgoing: Outgoing | undefined, bytes: number): boolean {
    const window = (outgoing?.window ?? this.#window) + bytes;
    if (window > LARGEST) throw new Error(`a window of ${window} bytes`);
    if (outgoing !== undefined) {
      outgoing.window = window;
      return this.#go(outgoing);
    }
    this.#window = window;
    let sent = false;
    for (const waiting of this.#waiting) sent = this.#go(waiting) || sent;
    return sent;
  }

  /** Of new bodies; the windows of those under way change with it, below zero if need be. */
  setInitial(window: number): void {
    if (window > LARGEST) throw new Error(`a window of ${window} bytes`);
    const change = window - this.#initial;
    this.#initial = window;
    for (const waiting of this.#waiting) {
      waiting.window += change;
      this.#go(waiting);
    }
  }

  setFrameBytes(bytes: number): void {
    if (bytes < FRAME_BYTES || bytes > MOST_FRAME_BYTES) throw new Error(`frames of ${bytes} bytes`);
    this.#frameBytes = bytes;
  }

  /** @returns whether something of its body was left. */
  forget(outgoing: Outgoing): boolean {
    outgoing.unsent = undefined;
    return this.#waiting.delete(outgoing);
  }

  #go(outgoing: Outgoing): boolean {
    let { unsent } = outgoing;
    if (unsent === undefined) return false;
    const before = unsent;
    for (;;) {
      const size = Math.max(Math.min(unsent.length, this.#window, outgoing.window, this.#frameBytes), 0);
      if (size === 0 && unsent.length > 0) break;
      const isEnd = size === unsent.length;
      this.#frames.frame(DATA, isEnd ? END_STREAM : 0, outgoing.id, unsent.subarray(0, size));
      this.#window -= size;
      outgoing.window -= size;
      unsent = unsent.subarray(size);
      if (isEnd) {
        this.forget(outgoing);
        return true;
      }
    }
    outgoing.unsent = unsent;
    return unsent !== before;
  }
}
