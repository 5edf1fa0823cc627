/** The headers of a request, made once for each kind of request and kept while the credentials stay the same. */
import type { HeaderValues } from "./cluster-config.ts";

interface Wanted {
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly headers?: HeaderValues | undefined;
}

export class RequestHeaders {
  readonly #userAgent: string;
  #credentials: HeaderValues | undefined;
  #made = new Map<string, HeaderValues>();
  #severalValues = false;

  constructor(userAgent: string) {
    this.#userAgent = userAgent;
  }

  of(request: Wanted, credentials: HeaderValues): HeaderValues {
    if (credentials !== this.#credentials) {
      this.#credentials = credentials;
      this.#made = new Map();
      this.#severalValues = hasList(credentials);
    }
    const type = request.body === undefined ? "" : (request.contentType ?? "application/json");
    const accept = request.accept ?? "application/json";
    const key = `${type} ${accept}`;
    let headers = this.#made.get(key);
    if (!headers) {
      headers = { accept, "user-agent": this.#userAgent, ...(type && { "content-type": type }), ...credentials };
      this.#made.set(key, headers);
    }
    return request.headers === undefined ? headers : { ...headers, ...request.headers };
  }

  /** Whether some header of the request has several values, which `fetch` would join into one. */
  hasSeveralValues(request: Wanted): boolean {
    return this.#severalValues || (request.headers !== undefined && hasList(request.headers));
  }
}

function hasList(headers: HeaderValues): boolean {
  return Object.values(headers).some((value) => typeof value !== "string");
}
