/** Traces of runs and requests, as the parts of the process feed them. */
import type { RunAnswer, SpanRef } from "./run-answer.ts";

export interface RunTraces {
  /** Begins the span of a run, before anything of the run is recorded; `undefined` when it is not sampled. */
  begin(run: Pick<RunAnswer, "controller" | "at" | "waited">): RunSpan | undefined;
}

/** The span of one run. */
export interface RunSpan {
  readonly ref: SpanRef;
  /** Chooses the id of the span of a write before its request is told, because others may link to it earlier. */
  write(): string;
  /** Ends the span, with a child for each part of the run. */
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
