/**
 * Sends request bodies within the flow-control windows of the server.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113#section-5.2
 */
import { DATA, END_STREAM, type FrameWriter, LARGEST } from "./h2-frames.ts";

/** The values that apply until the server's settings replace them: RFC 9113, section 6.5.2. */
const WINDOW = 65_535;
const FRAME_BYTES = 16_384;
const MOST_FRAME_BYTES = 2 ** 24 - 1;

/** The state of a request body. */
export interface Outgoing {
  readonly id: number;
  /** The flow-control window of the stream. */
  window: number;
  /** The rest of the body; `undefined` once everything is sent. */
  unsent: Uint8Array | undefined;
  /** Whether the remaining bytes may be sent; called each time, because they may have waited for long. */
  mayGoOn(): boolean;
}

export class BodySender {
  readonly #frames: FrameWriter;
  /** The flow-control window of the connection. */
  #window = WINDOW;
  /** The initial window of new streams. */
  #initial = WINDOW;
  #frameBytes = FRAME_BYTES;
  /** Bodies that are not sent completely, in order. */
  readonly #waiting = new Set<Outgoing>();

  constructor(frames: FrameWriter) {
    this.#frames = frames;
  }

  get frameBytes(): number {
    return this.#frameBytes;
  }

  /** Sends a body; called once, after the headers. */
  send(outgoing: Outgoing, body: string): void {
    outgoing.window = this.#initial;
    // Nearly every body fits however its characters are encoded, and is written directly into the buffer.
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
   * Opens the window of one body, or the connection's window when there is none.
   *
   * @returns whether any bytes were sent.
   * @throws Error when the window would exceed 2^31-1 bytes: FLOW_CONTROL_ERROR, RFC 9113, section 6.9.1.
   */
  open(outgoing: Outgoing | undefined, bytes: number): boolean {
    const window = (outgoing?.window ?? this.#window) + bytes;
    if (window > LARGEST) throw new Error(`flow-control window of ${window} bytes exceeds 2^31-1`);
    if (outgoing !== undefined) {
      outgoing.window = window;
      return this.#go(outgoing);
    }
    this.#window = window;
    let sent = false;
    for (const waiting of this.#waiting) sent = this.#go(waiting) || sent;
    return sent;
  }

  /**
   * Changes the initial window, and the windows of the bodies under way with it: they may become negative (RFC 9113,
   * section 6.9.2).
   */
  setInitial(window: number): void {
    // RFC 9113, section 6.5.2: FLOW_CONTROL_ERROR.
    if (window > LARGEST) throw new Error(`SETTINGS_INITIAL_WINDOW_SIZE of ${window} bytes exceeds 2^31-1`);
    const change = window - this.#initial;
    this.#initial = window;
    for (const waiting of this.#waiting) {
      waiting.window += change;
      this.#go(waiting);
    }
  }

  setFrameBytes(bytes: number): void {
    // RFC 9113, section 6.5.2: PROTOCOL_ERROR.
    if (bytes < FRAME_BYTES || bytes > MOST_FRAME_BYTES) {
      throw new Error(`SETTINGS_MAX_FRAME_SIZE of ${bytes} bytes is out of range`);
    }
    this.#frameBytes = bytes;
  }

  /** Drops the unsent bytes of a body. @returns whether there were any. */
  forget(outgoing: Outgoing): boolean {
    outgoing.unsent = undefined;
    return this.#waiting.delete(outgoing);
  }

  #go(outgoing: Outgoing): boolean {
    if (outgoing.unsent === undefined || !outgoing.mayGoOn()) return false;
    let { unsent } = outgoing;
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
