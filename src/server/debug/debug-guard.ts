/**
 * Protects the debug listener, which is reached from this machine only: by browsers too, and therefore by the pages of
 * any site.
 */
import { timingSafeEqual } from "node:crypto";
import { hostOf } from "#runtime/http-server";
import type { MiddlewareHandler } from "hono";
import { type Connection, isForwarded, isLoopbackPeer, isLoopbackName } from "../local-request.ts";
import type { ErrorAnswer } from "./answers.ts";

/**
 * Refuses requests that no person on this machine has made: from other machines, through proxies, for names that were
 * redirected to this address (DNS rebinding), and from pages of other sites. A port-forward ends on the loopback of the
 * pod, so the person who may make one counts as local; the port that such a request names may be any.
 */
export const guard: MiddlewareHandler = async (context, next) => {
  const { raw } = context.req;
  const { method, headers } = raw;
  if (!isLoopbackPeer((context.env as Connection | undefined) ?? {}) || isForwarded(raw))
    return context.json(refusal("requests from other machines and through proxies are refused"), 403);
  if (!isLoopbackName(hostOf(raw)))
    return context.json(
      refusal(`the header Host is ${JSON.stringify(hostOf(raw))}, which is not a name of this machine's loopback`),
      403,
    );
  if (isOfOtherSite(headers, hostOf(raw)))
    return context.json(refusal("requests from pages of other sites are refused"), 403);
  if (method !== "GET" && method !== "POST") return context.json(refusal(`${method} is not allowed`), 405);
  await next();
  for (const [name, value] of Object.entries(HEADERS)) if (!context.res.headers.has(name)) context.header(name, value);
  return undefined;
};

/** The headers of every response. A page sets a policy of its own, which allows its script. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
} as const;

/** A link on another site's page may lead here, because its page does not learn what the answer is. */
function isOfOtherSite(headers: Headers, host: string): boolean {
  const origin = headers.get("origin");
  if (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host.toLowerCase())) return true;
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return false;
  return headers.get("sec-fetch-mode") !== "navigate" || headers.get("sec-fetch-dest") !== "document";
}

/** Refuses actions without the token of the process, which web pages and other users of the machine do not have. */
export function requireToken(token: string): MiddlewareHandler {
  const expected = Buffer.from(`Bearer ${token}`);
  return async (context, next) => {
    const presented = Buffer.from(context.req.header("authorization") ?? "");
    if (presented.length === expected.length && timingSafeEqual(presented, expected)) return next();
    return context.json(refusal("this action needs the token of the process in the header Authorization"), 401);
  };
}

export function refusal(error: string): ErrorAnswer {
  return { error };
}
