/** Refuses watches over WebSockets, which the clients for Java try first. */
import { answerStatus } from "./request/answer.ts";
import { StatusError } from "./status.ts";

/**
 * The refusal of a watch over a WebSocket; `undefined` for all other requests. kube-apiserver serves such watches. This
 * server does not, and says so with the status on which fabric8's client watches by plain HTTP instead.
 */
export function socketRefusal(request: Request): Response | undefined {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const watch = new URL(request.url).searchParams.get("watch");
  if (watch === null || watch === "false" || watch === "0") return undefined;
  const message = "watches are not served over WebSockets: send the request without the header Upgrade";
  return answerStatus(request, new StatusError(503, "ServiceUnavailable", { message }).status);
}
