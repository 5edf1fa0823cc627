/** Requests to webhooks by Bun's `fetch`. */
import type { WebhookRequest } from "../webhook-request.ts";

/** Posts a body; requests with the same authority and name share connections. @throws Error with the code of what failed. */
export function post({ url, ca, serverName, ...init }: WebhookRequest): Promise<Response> {
  // As in Go, each certificate of a bundle is an anchor: an intermediate's, and the webhook's own, too.
  const tls = { serverName, ...(ca !== undefined && { ca, allowPartialTrustChain: true }) };
  // A webhook's response must not decide to whom this server sends requests.
  return fetch(url, { ...init, method: "POST", redirect: "manual", tls } as BunFetchRequestInit);
}
