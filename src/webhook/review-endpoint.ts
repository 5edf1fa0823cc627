/**
 * One path of the webhook listener, which turns a decoded review into a response.
 *
 * Admission mounts one endpoint for each path of its definitions, and conversion mounts `/convert`. The routes
 * (`review-routes.ts`) handle what concerns HTTP for all of them: body limit, content type, JSON, the deadline, and
 * metrics.
 */

export interface ReviewCall {
  /** The latest time for the response by the process's clock, a little before the caller stops waiting. */
  readonly deadline: number;
}

export interface ReviewAnswer {
  /** The HTTP status. The API server treats anything but 200 as a failure of the webhook itself. */
  readonly status: number;
  /** An object that is sent as JSON, or a text. */
  readonly body: object | string;
  /** Whether the text is JSON already. @default false */
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
  /** The largest body that is read. @default that of the routes */
  readonly mostBytes?: number | undefined;
  /**
   * Called when a request has arrived. Its review may follow, once its body has been read, until {@link answered} is
   * called.
   */
  requested?(): void;
  /** Called when a request has its response. */
  answered?(): void;
  /** Parses a body. @default JSON.parse @throws SyntaxError */
  readonly parse?: ((text: string) => unknown) | undefined;
  /** Handles a review, including failures of an author's code; a rejection becomes HTTP 500 and is a bug of ours. */
  review(body: unknown, call: ReviewCall): ReviewAnswer | Promise<ReviewAnswer>;
  /** Returns the response to a request from which no review could be read. */
  malformed(problem: RequestProblem): ReviewAnswer;
}
