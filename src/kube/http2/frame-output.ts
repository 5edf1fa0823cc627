/**
 * Writes the frames of a connection: all those of one turn of the event loop at once, and later the bytes that the
 * socket did not accept.
 */
import type { SecureSocket } from "../../platform/secure-socket.ts";
import { FrameWriter } from "./h2-frames.ts";

export interface FrameOutputOptions {
  readonly socket: SecureSocket;
  /** Decides whether bytes that have waited for long may be written. @returns false when they never may. */
  readonly mayWriteLate: () => boolean;
  /** Called when nothing waits any more. */
  readonly onWritten: () => void;
}

/**
 * Milliseconds after which bytes are late. Only a process that was stopped or blocked, or a full socket, lets bytes
 * wait for longer.
 */
const LATE_MS = 250;

export class FrameOutput {
  readonly frames: FrameWriter = new FrameWriter();
  readonly #options: FrameOutputOptions;
  readonly #later = (): void => {
    this.#isDue = false;
    this.write();
  };
  #isDue = false;
  #isClosed = false;
  /** Bytes that the socket did not take. */
  #unwritten: Uint8Array | undefined;
  /** The time since which the first of the bytes waits. */
  #since = Infinity;

  constructor(options: FrameOutputOptions) {
    this.#options = options;
  }

  writeSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    if (this.#since === Infinity) this.#since = performance.now();
    setImmediate(this.#later);
  }

  write(): void {
    if (this.#isClosed || this.#unwritten !== undefined) return;
    const { socket, onWritten } = this.#options;
    if (this.frames.length > 0) {
      if (!this.#mayWrite()) return;
      const bytes = this.frames.take();
      const taken = socket.write(bytes);
      // The writer reuses its buffer, so unwritten bytes are copied.
      if (taken < bytes.length) this.#unwritten = bytes.slice(taken);
    }
    if (this.#unwritten !== undefined) return;
    this.#since = Infinity;
    onWritten();
  }

  /** Writes the remaining bytes when the socket accepts more. */
  drained(): void {
    const rest = this.#unwritten;
    if (rest === undefined || this.#isClosed || !this.#mayWrite()) return;
    const taken = this.#options.socket.write(rest);
    this.#unwritten = taken < rest.length ? rest.subarray(taken) : undefined;
    this.write();
  }

  /** Ends all writing. */
  close(): void {
    this.#isClosed = true;
  }

  #mayWrite(): boolean {
    return performance.now() - this.#since <= LATE_MS || this.#options.mayWriteLate();
  }
}
