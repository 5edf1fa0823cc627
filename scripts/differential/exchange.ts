/** What is sent to a server and what it answered: the parts of a recording. */

/** Where the same requests are sent. */
export interface Target {
  readonly name: string;
  /** @param credentials whether the administrator's certificate goes with it. @default it does */
  fetch(request: Request, credentials?: "none"): Promise<Response>;
}

export interface Call {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  /** Sent without the administrator's certificate: the headers may have a token. @default with it */
  readonly credentials?: "none";
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON; of a watch the events. */
  readonly body: unknown;
}

/** The status where a connection broke: kube-apiserver panics at some requests and closes it. */
export const noAnswer = -1;

export interface Exchange {
  readonly label: string;
  readonly call: Call;
  readonly answer: Answer;
}

/** The exchanges of one case, in the order they were made; what is normalised is counted within a case. */
export interface CaseRecord {
  readonly name: string;
  readonly exchanges: readonly Exchange[];
}
