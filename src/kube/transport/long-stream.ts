/** A request with a long response: chunks are passed on as they arrive, and silence for too long is a failure. */
import type { Clock } from "../../platform/clock.ts";
import { refusal } from "./answer.ts";
import type { AnswerLog } from "./answer-log.ts";
import { UnreachableError } from "../errors/api-error.ts";
import { BodyPieces } from "./body-pieces.ts";
import type { HttpCarrier } from "./http-carrier.ts";
import type { HttpRequest, ResponseHandlers, OpenRequest } from "../http/http-request.ts";
import type { StreamRequest } from "./kube-request.ts";
import { MOST_REFUSAL_BYTES } from "../limits.ts";

export interface LongStreamOptions {
  readonly carrier: HttpCarrier;
  readonly http: HttpRequest;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly server: string;
  readonly log: AnswerLog;
}

/**
 * Sends the request; resolves when the server ends the response in order.
 *
 * @throws ApiError, UnreachableError, or the signal's reason.
 */
export async function runStream(request: StreamRequest, options: LongStreamOptions): Promise<void> {
  const stream = new LongStream(request, options);
  try {
    await stream.run();
  } finally {
    stream.release();
  }
}

class LongStream implements ResponseHandlers {
  readonly #request: StreamRequest;
  readonly #options: LongStreamOptions;
  readonly #done = Promise.withResolvers<void>();
  readonly #onAbort = () => this.#fail(this.#options.signal.reason);
  #opened: OpenRequest | undefined;
  #over = false;
  #status = 0;
  #retryAfter: string | undefined;
  /** The body of a response other than success. */
  #refused: BodyPieces | undefined;
  #lastByte = 0;
  #timer: Disposable | undefined;

  constructor(request: StreamRequest, options: LongStreamOptions) {
    this.#request = request;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { carrier, http, signal } = this.#options;
    signal.throwIfAborted(); // it may have aborted while the credentials were read
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#lastByte = this.#options.clock.now();
    const { idleTimeout } = this.#request;
    if (idleTimeout !== undefined) this.#armIdle(idleTimeout, idleTimeout);
    this.#opened = carrier.open(http, this);
    if (this.#over) this.#opened.cancel();
    else this.#request.onFlow?.(this.#opened);
    await this.#done.promise;
  }

  release(): void {
    this.#over = true;
    this.#timer?.[Symbol.dispose]();
    this.#options.signal.removeEventListener("abort", this.#onAbort);
  }

  onResponse(status: number, header: (name: string) => string | undefined): void {
    if (this.#over) return;
    this.#status = status;
    this.#lastByte = this.#options.clock.now();
    this.#guarded(() => this.#options.log.answered(this.#request.method, status, header("warning")));
    if (this.#over) return;
    if (status >= 200 && status <= 299) return this.#guarded(() => this.#request.onHeaders?.());
    this.#retryAfter = header("retry-after");
    this.#refused = new BodyPieces(MOST_REFUSAL_BYTES);
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#lastByte = this.#options.clock.now();
    if (this.#refused) {
      if (this.#refused.add(chunk)) return;
      // The beginning of a refusal is enough.
      this.#opened?.cancel();
      return this.onEnd();
    }
    try {
      this.#request.onChunk(chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  onEnd(): void {
    if (this.#over) return;
    if (this.#status === 0) {
      // A stream that ends without a response is not a watch that the server closed in order.
      const message = "the stream ended without a response";
      return this.#fail(new UnreachableError(this.#options.server, { code: "ECONNRESET", message }));
    }
    this.#over = true;
    if (!this.#refused) return this.#done.resolve();
    const { method, path } = this.#request;
    const body = new TextDecoder().decode(this.#refused.whole());
    this.#done.reject(refusal({ method, path, code: this.#status, body, retryAfter: this.#retryAfter, watch: true }));
  }

  onError(error: UnreachableError): void {
    this.#fail(error);
  }

  /** An error of the caller's callback ends the stream and becomes its error. */
  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#opened?.cancel();
    this.#done.reject(error);
  }

  /** Arms one timer for many chunks: when it fires it checks the time of the last chunk. */
  #armIdle(ms: number, limit: number): void {
    const { clock, server } = this.#options;
    this.#timer = clock.setTimeout(() => {
      const left = this.#lastByte + limit - clock.now();
      if (left > 0) return this.#armIdle(left, limit);
      const message = `${this.#request.method} ${this.#request.path} was silent for ${limit / 1_000} s`;
      this.#fail(new UnreachableError(server, { code: "ETIMEDOUT", message }));
    }, ms);
  }
}
