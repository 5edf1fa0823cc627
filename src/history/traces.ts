/** Traces of runs and requests, as the parts of the process feed them. */
import type { RunAnswer, SpanRef } from "./run-answer.ts";

export interface RunTraces {
  /** Begins the span of a run; `undefined` when it is not sampled. */
  begin(run: RunAnswer): SpanRef | undefined;
  /** Chooses the span of a write before it is told, because others may link to it earlier. */
  write(run: RunAnswer): SpanRef | undefined;
  /** Ends the span of a run, with a child for each of its parts. */
  end(run: RunAnswer): void;
}

/** The span of one request. */
export interface RequestSpan {
  /** `undefined` when it is not sampled. */
  readonly ref: SpanRef | undefined;
  end(status: number): void;
}

export interface RequestTraces {
  /** Begins the span of a request, which may belong to a trace of its sender. */
  request(path: string, headers: Headers): RequestSpan;
}
