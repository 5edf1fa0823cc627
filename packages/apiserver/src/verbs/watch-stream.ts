/** The body of a watch: lines that are sent together, once per turn of the event loop. */
import type { Media } from "../request/accept.ts";
import { warningHeaders } from "../request/warning-headers.ts";

/** The most bytes that a client may leave unread before its watch ends. */
const mostUnread = 64 * 1024 * 1024;

export interface WatchStreamOptions {
  /** Ends the stream when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** The duration of the watch in seconds. */
  readonly seconds: number;
  /** Whether to send a byte at once, so that the headers are sent. */
  readonly beginsAtOnce: boolean;
  /** Whether events cannot be sent in the requested form; the first event then ends the stream. */
  readonly isMute: boolean;
  readonly media: Media;
}

const encoder = new TextEncoder();

export class WatchStream {
  readonly #body: ReadableStream<Uint8Array>;
  readonly #ended: (() => void)[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: Uint8Array[] = [];
  #isScheduled = false;
  #isEnded = false;
  readonly #isMute: boolean;
  readonly #type: string;
  /** Whether the first byte of the next event has been sent already. */
  #isBegun = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ signal, seconds, beginsAtOnce, isMute, media }: WatchStreamOptions) {
    this.#isMute = isMute;
    this.#type = media === "protobuf" ? "application/vnd.kubernetes.protobuf;stream=watch" : "application/json";
    const end = (): void => this.end();
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        cancel: end,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostUnread }),
    );
    signal.addEventListener("abort", end, { once: true });
    this.onEnd(() => signal.removeEventListener("abort", end));
    if (beginsAtOnce) this.#begin(media);
    this.#timer = setTimeout(end, Math.max(0, Math.min(seconds * 1000, 2 ** 31 - 1)));
  }

  response(warnings: readonly string[]): Response {
    const headers = new Headers({ "content-type": this.#type, "cache-control": "no-cache, private" });
    for (const warning of warningHeaders(warnings)) headers.append("warning", warning);
    return new Response(this.#body, { headers });
  }

  write(line: Uint8Array | string): void {
    if (this.#isEnded) return;
    if (this.#isMute) return this.end();
    this.#waiting.push(typeof line === "string" ? encoder.encode(line) : line);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  /** Calls back once, when the stream ends for any reason; at once when it has ended. */
  onEnd(callback: () => void): void {
    if (this.#isEnded) callback();
    else this.#ended.push(callback);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#flush();
    this.#isEnded = true;
    clearTimeout(this.#timer);
    try {
      this.#controller?.close();
    } catch {
      // The client has closed it.
    }
    for (const callback of this.#ended.splice(0)) callback();
  }

  /**
   * Sends a byte without a meaning of its own. JSON allows a space anywhere. In protobuf the length of each event is
   * before it, in four bytes, the first of which is 0 because no object has 16 MiB.
   */
  #begin(media: Media): void {
    this.#isBegun = media === "protobuf";
    this.#controller?.enqueue(this.#isBegun ? Uint8Array.of(0) : encoder.encode(" "));
  }

  #flush(): void {
    this.#isScheduled = false;
    const [next, ...others] = this.#waiting;
    this.#waiting = [];
    const first = this.#isBegun ? next?.subarray(1) : next;
    if (first === undefined || this.#isEnded) return;
    if ((this.#controller?.desiredSize ?? 1) <= 0) return this.end();
    this.#isBegun = false;
    this.#controller?.enqueue(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }
}
