/** What a test can make go wrong between modules and their API server. */
import type { Resource } from "../resource/handle.ts";
import type { RunningModule } from "./running-module.ts";
import type { RequestTarget, RequestVerb } from "./request-target.ts";

/** Which requests a fault strikes. */
export interface FaultOptions {
  /** Only what this module sends, as `runModule` returned it. @default every module */
  readonly module?: RunningModule | undefined;
  /** Only of this kind. @default every kind but Events */
  readonly kind?: Resource | undefined;
  /** @default what the fault says */
  readonly verbs?: readonly RequestVerb[] | undefined;
  /** Decides besides `kind` and `verbs`. */
  readonly on?: ((request: RequestTarget) => boolean) | undefined;
  /** How many requests it strikes. @default what the fault says */
  readonly times?: number | undefined;
  /** How many requests it lets pass before. @default 0 */
  readonly after?: number | undefined;
}

export interface RefuseOptions extends FaultOptions {
  /** Seconds, as `Retry-After`; 429 and 5xx are tried again by the client itself then. @default none */
  readonly retryAfter?: number | undefined;
  readonly message?: string | undefined;
}

/** Ends when it is disposed of, and with `clear()`. */
export interface ActiveFault extends Disposable {
  /** Requests and watches that it struck so far. */
  readonly struck: number;
}

/**
 * Faults between what `runModule` runs and the API server; the test's own `client` has none.
 *
 * Each lasts until it has struck `times` requests, is disposed of, or `clear()`.
 */
export interface Faults {
  /** Open watches lose their connection. */
  cutWatches(options?: Pick<FaultOptions, "module" | "kind" | "on">): void;
  /** Requests reach the server and are carried out; the connection is lost before the answer is there. @default once */
  drop(options?: FaultOptions): ActiveFault;
  /** Every connection is lost and no new one can be made. */
  disconnect(options?: Pick<FaultOptions, "module">): ActiveFault;
  /** Nothing goes through, open watches included, and nobody is told; at the end it all comes late. */
  stall(options?: FaultOptions): ActiveFault;
  /** Answers and the events of watches are late by so many milliseconds. */
  latency(ms: number, options?: FaultOptions): ActiveFault;
  /** Requests are refused with 403, 404, 409, 410, 429, 500, 503 or 504, and not carried out. @default once */
  refuse(code: number, options?: RefuseOptions): ActiveFault;
  /** Open watches end, and the versions they could go on from are too old: 410. */
  expireWatches(options?: Pick<FaultOptions, "module" | "kind" | "on">): void;
  /** Lists and gets are answered as at the first time, whatever was written since. */
  staleReads(options?: FaultOptions): ActiveFault;
  /** The n-th write from now is refused: somebody else was first. */
  conflict(nth?: number, options?: Omit<FaultOptions, "times" | "after">): ActiveFault;
  /**
   * Another replica is to lead: the module's requests for the Lease of its `leaderElection` get no answer any more, as when the network between is broken. It
   * writes until its last renewal is 2 s old and nothing from then on; another replica takes the Lease when it has expired,
   * a second later. At the end the module may lead again.
   */
  takeLease(module: RunningModule): ActiveFault;
  /** Ends them all. */
  clear(): void;
}
