/** A pool of connections for `fetch` that can be left behind as a whole. */

export interface FetchSession extends Disposable {
  fetch(url: string, init: BunFetchRequestInit): Promise<Response>;
  /** Closes idle connections; requests in flight finish. */
  close(): void;
}

/**
 * Connections of one session are never used by another, so a new session means new connections.
 *
 * @param tls given here and not with each request, it is read once: that saves a sixth of a request's cost.
 */
export function openFetchSession(tls: BunFetchRequestInitTLS): FetchSession {
  return new Bun.FetchSession({ tls });
}
