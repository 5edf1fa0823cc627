/** The faults that a test can inject between modules and their API server. */
import type { Resource } from "../resource/handle.ts";
import type { RunningModule } from "./running-module.ts";
import type { RequestTarget, RequestVerb } from "./request-target.ts";

/** Which requests a fault strikes. */
export interface FaultOptions {
  /** Only requests of this module, as `runModule` returned it. @default every module */
  readonly module?: RunningModule | undefined;
  /** Only requests for this kind. @default every kind but Events */
  readonly kind?: Resource | undefined;
  /** Only requests with these verbs. @default those that the fault names */
  readonly verbs?: readonly RequestVerb[] | undefined;
  /** A further condition besides `kind` and `verbs`. */
  readonly on?: ((request: RequestTarget) => boolean) | undefined;
  /** How many requests it strikes. @default as the fault says */
  readonly times?: number | undefined;
  /** The number of requests that pass before the fault strikes. @default 0 */
  readonly after?: number | undefined;
}

export interface RefuseOptions extends FaultOptions {
  /** Seconds for `Retry-After`, with which the client itself retries 429 and 5xx. @default none */
  readonly retryAfter?: number | undefined;
  readonly message?: string | undefined;
}

/** A fault that ends when it is disposed of, and with `clear()`. */
export interface ActiveFault extends Disposable {
  /** How many requests and watches it has struck so far. */
  readonly struck: number;
}

/**
 * Faults between the modules of `runModule` and the API server; the test's own `client` has none.
 *
 * Each lasts until it has struck `times` requests, is disposed of, or `clear()` is called.
 */
export interface Faults {
  /** Cuts the connections of open watches. */
  cutWatches(options?: Pick<FaultOptions, "module" | "kind" | "on">): void;
  /** Requests take effect at the server, but the connection is lost before the response. @default once */
  drop(options?: FaultOptions): ActiveFault;
  /** Every connection is lost, and no new one can be made. */
  disconnect(options?: Pick<FaultOptions, "module">): ActiveFault;
  /** No data goes through, not even for open watches, and no error is reported; at the end everything arrives late. */
  stall(options?: FaultOptions): ActiveFault;
  /** Delays responses and events of watches by this many milliseconds. */
  latency(ms: number, options?: FaultOptions): ActiveFault;
  /** Rejects requests with 403, 404, 409, 410, 429, 500, 503 or 504, without effect. @default once */
  refuse(code: number, options?: RefuseOptions): ActiveFault;
  /** Ends open watches, and makes the versions from which they could continue too old (410). */
  expireWatches(options?: Pick<FaultOptions, "module" | "kind" | "on">): void;
  /** Lists and gets return the same as the first time, whatever was written since. */
  staleReads(options?: FaultOptions): ActiveFault;
  /** Rejects the n-th write from now on as a conflict. */
  conflict(nth?: number, options?: Omit<FaultOptions, "times" | "after">): ActiveFault;
  /**
   * Makes another replica lead: the module's requests for the Lease of its `leaderElection` get no response any more,
   * as if the network were broken. It writes until its last renewal is 2 s old and nothing after that; another replica
   * takes the Lease when it has expired, a second later. At the end of the fault the module may lead again.
   */
  takeLease(module: RunningModule): ActiveFault;
  /** Ends all faults. */
  clear(): void;
}
