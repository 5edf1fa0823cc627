/** One call with all its attempts: how long it may still take, and what its error tells when it was given up. */
import { sleep, type Clock } from "../../platform/clock.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { KubeRequest } from "./kube-request.ts";
import type { Attempts } from "./retry.ts";

export interface BoundedCallOptions {
  readonly server: string;
  readonly clock: Clock;
  /** When the call began, by the clock. */
  readonly start: number;
  /** It takes as long as it takes. */
  readonly isStream: boolean;
}

/** Made when a call has to wait or to be tried again; a call that is answered at once never needs one. */
export class BoundedCall implements Disposable {
  readonly attempts: Attempts = { refused: 0, reset: 0 };
  /** Ends when the caller gives up or the time is over. */
  readonly signal: AbortSignal | undefined;
  /** For further attempts: their time is what is left of the call's. */
  readonly request: KubeRequest;
  readonly #asked: KubeRequest;
  readonly #options: BoundedCallOptions;
  readonly #end: number = Infinity;
  readonly #timer: Disposable | undefined;
  /** The answer to the last attempt that was answered. */
  #last: unknown;

  constructor(request: KubeRequest, options: BoundedCallOptions) {
    const { clock, start } = options;
    const { timeout } = request;
    this.#asked = request;
    this.#options = options;
    if (timeout === undefined || options.isStream) {
      this.signal = request.signal;
      this.request = request;
      return;
    }
    const over = new AbortController();
    this.#end = start + timeout;
    this.#timer = clock.setTimeout(() => over.abort(this.#overdue()), this.#end - clock.now());
    this.signal = request.signal === undefined ? over.signal : AbortSignal.any([request.signal, over.signal]);
    this.request = { ...request, signal: this.signal, timeout: Infinity };
  }

  /** Remembers what an attempt came to. */
  failed(error: unknown): void {
    this.#last = error;
  }

  /**
   * Waits before another attempt.
   *
   * @returns false, without waiting, when the call would be over by then.
   */
  async pause(ms: number): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.now() + ms >= this.#end) return false;
    this.#asked.attempts?.onRetry();
    if (ms > 0) await sleep(ms, { clock, signal: this.signal });
    return true;
  }

  /** The error of a call that its caller gave up: why, and what the server had answered before. */
  interrupted(): unknown {
    const reason: unknown = this.#asked.signal?.reason;
    if (this.#last === undefined) return reason;
    const error = new Error(`${messageOf(reason)}. Before that: ${messageOf(this.#last)}`, { cause: this.#last });
    error.name = reason instanceof Error || reason instanceof DOMException ? reason.name : "AbortError";
    return error;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #overdue(): UnreachableError {
    const { method, path, timeout = 0 } = this.#asked;
    const { server } = this.#options;
    const before = this.#last === undefined ? "" : `. Before that: ${messageOf(this.#last)}`;
    const message = `no answer to ${method} ${path} within ${timeout / 1_000} s${before}`;
    return new UnreachableError(server, { code: "ETIMEDOUT", message, cause: this.#last });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.message : String(error);
}
