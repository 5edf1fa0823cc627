/** One call with all its attempts, its remaining time, and its error when it is given up. */
import { messageOf } from "../../platform/error-message.ts";
import { sleep, type Clock } from "../../platform/clock.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { KubeRequest } from "./kube-request.ts";
import type { Attempts } from "./retry.ts";

export interface BoundedCallOptions {
  readonly server: string;
  readonly clock: Clock;
  /** When the call began, by the clock. */
  readonly start: number;
  /** Streams have no deadline. */
  readonly isStream: boolean;
}

/** Created when a call has to wait or is retried; a call that is answered at once needs none. */
export class BoundedCall implements Disposable {
  readonly attempts: Attempts = { refused: 0, reset: 0 };
  /** Aborts when the caller gives up or the time is over. */
  readonly signal: AbortSignal | undefined;
  /** The request of further attempts, with the time that is left of the call. */
  readonly request: KubeRequest;
  readonly #request: KubeRequest;
  readonly #options: BoundedCallOptions;
  readonly #end: number = Infinity;
  readonly #timer: Disposable | undefined;
  /** The error of the last attempt. */
  #last: unknown;

  constructor(request: KubeRequest, options: BoundedCallOptions) {
    const { clock, start } = options;
    const { timeout } = request;
    this.#request = request;
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

  /** Remembers the error of an attempt. */
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
    this.#request.attempts?.onRetry();
    if (ms > 0) await sleep(ms, { clock, signal: this.signal });
    return true;
  }

  /** The error of a call that its caller has aborted: the reason, with the error of the last attempt. */
  interrupted(): unknown {
    const reason: unknown = this.#request.signal?.reason;
    if (this.#last === undefined) return reason;
    const error = new Error(`${messageOf(reason)}. Before that: ${messageOf(this.#last)}`, { cause: this.#last });
    error.name = reason instanceof Error || reason instanceof DOMException ? reason.name : "AbortError";
    return error;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #overdue(): UnreachableError {
    const { method, path, timeout = 0 } = this.#request;
    const { server } = this.#options;
    const before = this.#last === undefined ? "" : `. Before that: ${messageOf(this.#last)}`;
    const message = `no answer to ${method} ${path} within ${timeout / 1_000} s${before}`;
    return new UnreachableError(server, { code: "ETIMEDOUT", message, cause: this.#last });
  }
}
