/** Decides whether and when a request is retried. */
import { isApiError, isUnreachable, type UnreachableError } from "../errors/api-error.ts";
import { wasNotBegun } from "../errors/connection-failure.ts";

/** The maximum number of retries. @see https://pkg.go.dev/k8s.io/client-go/rest#Request.MaxRetries */
const MOST_RETRIES = 10;
/**
 * The longest delay that a server may request; a caller with a deadline of its own should not wait longer unnoticed.
 */
const LONGEST_DELAY_MS = 60_000;
/** Codes of connections that were cut off, or whose server did not answer a ping. */
const LOST = new Set(["ECONNRESET", "EPIPE", "ENETRESET"]);
const LOST_DELAYS_MS = [0, 100, 1_000];
/** A server that closes one connection after the other with GOAWAY may hit the same request several times. */
const NOT_BEGUN_DELAYS_MS = [0, 0, 100, 100, 1_000, 1_000];

export interface Attempts {
  /** The number of responses with 429 or 5xx so far. */
  refused: number;
  /** The number of lost connections so far. */
  reset: number;
}

/**
 * Says how long to wait before another attempt.
 *
 * 429 and 5xx are retried only with `Retry-After`; lost connections only for GET, unless the server reports that it did
 * not begin; refused connections never.
 *
 * @param attempts the counters, which are incremented.
 * @returns milliseconds, or undefined when the error is final.
 */
export function retryDelay(error: unknown, options: { method: string; attempts: Attempts }): number | undefined {
  const { method, attempts } = options;
  if (isApiError(error)) {
    const isRetried = error.code === 429 || error.code >= 500;
    if (!isRetried || error.retryAfter === undefined || attempts.refused >= MOST_RETRIES) return undefined;
    // A repeated `Retry-After: 0` must not cause a storm of requests.
    const least = Math.min(100 * 2 ** attempts.refused++, 1_000);
    return Math.min(Math.max(error.retryAfter * 1_000, least), LONGEST_DELAY_MS);
  }
  return isUnreachable(error) ? delaysOf(error, method)[attempts.reset++] : undefined;
}

function delaysOf(error: UnreachableError, method: string): readonly number[] {
  if (wasNotBegun(error)) return NOT_BEGUN_DELAYS_MS;
  return method === "GET" && LOST.has(error.code) ? LOST_DELAYS_MS : [];
}

/** Reads a `Retry-After` header of whole seconds. */
export function retryAfterOf(header: string | null | undefined): number | undefined {
  if (!header) return undefined;
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
