/** A request to a server and its response: the parts of a recording. */
import type { Tier } from "./tiers.ts";

/** A server that gets the requests. */
export interface Target {
  readonly name: string;
  /** Sends a request. @param credentials whether it has the administrator's certificate. @default it has */
  fetch(request: Request, credentials?: "none"): Promise<Response>;
}

export interface Call {
  readonly method: string;
  /** The path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  /** Whether it is sent without the administrator's certificate; headers may contain a token. @default with it */
  readonly credentials?: "none";
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body if it is JSON; for a watch the events. */
  readonly body: unknown;
}

/** The status of a broken connection, because kube-apiserver panics at some requests and closes it. */
export const noAnswer = -1;

export interface Exchange {
  readonly label: string;
  readonly call: Call;
  readonly answer: Answer;
}

/** The exchanges of one case in their order; numbering of normalised values begins anew with each case. */
export interface CaseRecord {
  readonly name: string;
  /** The tier of its case, where that has one. */
  readonly tier?: Tier;
  readonly exchanges: readonly Exchange[];
}
