/** Watches over WebSockets, which the clients for Java try first. */

/**
 * The answer to a handshake for a watch over a WebSocket; `undefined` for all other requests. kube-apiserver serves such
 * watches. This server ignores the header, as HTTP allows, and answers 200, on which fabric8's client watches by plain
 * HTTP at once; after a status of 5xx it would first try again for half a minute. The answer has no body, because that
 * client waits for its end.
 */
export function withoutSocket(request: Request): Response | undefined {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const watch = new URL(request.url).searchParams.get("watch");
  return watch === null || watch === "false" || watch === "0" ? undefined : new Response(null);
}
