/** The headers of a request, made once for each kind of request and kept while the credentials stay the same. */
import type { HeaderValues } from "../config/cluster-config.ts";

interface HeaderRequest {
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly headers?: HeaderValues | undefined;
  readonly traffic?: string | undefined;
}

export class RequestHeaders {
  readonly #userAgent: string;
  #credentials: HeaderValues | undefined;
  #cache = new Map<string, HeaderValues>();
  readonly #compressedLists: boolean;

  constructor(userAgent: string, options: { readonly compressedLists: boolean }) {
    this.#userAgent = userAgent;
    this.#compressedLists = options.compressedLists;
  }

  of(request: HeaderRequest, credentials: HeaderValues): HeaderValues {
    if (credentials !== this.#credentials) {
      this.#credentials = credentials;
      this.#cache = new Map();
    }
    const type = request.body === undefined ? "" : (request.contentType ?? "application/json");
    const accept = request.accept ?? "application/json";
    const isCompressed = this.#compressedLists && request.traffic === "list";
    const key = `${type} ${accept}${isCompressed ? " gzip" : ""}`;
    let headers = this.#cache.get(key);
    if (!headers) {
      headers = {
        accept,
        "user-agent": this.#userAgent,
        ...(type && { "content-type": type }),
        ...(isCompressed && { "accept-encoding": "gzip" }),
        ...credentials,
      };
      this.#cache.set(key, headers);
    }
    return request.headers === undefined ? headers : { ...headers, ...request.headers };
  }
}
