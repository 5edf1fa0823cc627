/**
 * One path of the webhook listener: a decoded review in, a review out.
 *
 * Admission mounts one endpoint for each path of its definitions and conversion mounts `/convert`. The routes
 * (`review-routes.ts`) do for all of them what has to do with HTTP: body limit, content type, JSON, the deadline, and metrics.
 */

export interface ReviewCall {
  /** When the answer has to be on its way: milliseconds by the clock of the process, a little before the caller stops waiting. */
  readonly deadline: number;
}

export interface ReviewAnswer {
  /** The HTTP status. The API server takes anything but 200 for a failure of the webhook itself. */
  readonly status: number;
  /** What is sent as JSON, or a text. */
  readonly body: object | string;
  /** The text is JSON already. @default false */
  readonly isJson?: boolean | undefined;
}

/** A request from which no review could be read. */
export interface RequestProblem {
  /** An HTTP status code, such as 400 or 413. */
  readonly code: number;
  readonly message: string;
}

export interface ReviewEndpoint {
  readonly path: string;
  /** The largest body that is read. @default 7 MiB, as in controller-runtime */
  readonly mostBytes?: number | undefined;
  /** A request has come: until {@link answered} its review may follow, once its body has been read. */
  requested?(): void;
  /** A request has been answered. */
  answered?(): void;
  /** Makes a value of a body. @default JSON.parse @throws SyntaxError */
  readonly parse?: ((text: string) => unknown) | undefined;
  /** Answers a review. It answers failures of an author's code too: a rejection becomes HTTP 500 and is a bug of ours. */
  review(body: unknown, call: ReviewCall): ReviewAnswer | Promise<ReviewAnswer>;
  /** The answer to a request from which no review could be read. */
  malformed(problem: RequestProblem): ReviewAnswer;
}
