/** What a transport is doing, for metrics and health checks. */
export interface TransportStats {
  /** Connections that carry watches. */
  readonly sessions: number;
  /** Watches open now. */
  readonly streams: number;
  /** Short requests in flight. */
  readonly inFlight: number;
  /** Answers so far, by `<method> <code>`; the code is `error` when there was no answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** What short requests use, as far as known. */
  readonly protocol: "h2" | "http/1.1";
}
