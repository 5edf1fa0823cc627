/** Requests whose answer is read as a whole. */
import { notJson, parseJson, refusal } from "./answer.ts";
import type { AnswerLog } from "./answer-log.ts";
import { isApiError } from "./api-error.ts";
import type { HeaderValues } from "./cluster-config.ts";
import { unreachable } from "./connection-failure.ts";
import type { ExchangePath } from "./exchange-path.ts";
import type { FetchPath } from "./fetch-path.ts";
import { bodyOf, pathOf, type KubeRequest } from "./kube-request.ts";

export interface Sending {
  readonly headers: HeaderValues;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** Over `fetch`: the way of nearly all requests. */
export async function sendByFetch(
  request: KubeRequest,
  sending: Sending,
  by: { path: FetchPath; log: AnswerLog; server: string },
): Promise<unknown> {
  const { method } = request;
  const { headers, signal } = sending;
  try {
    const response = await by.path.send({ method, path: pathOf(request), headers, body: bodyOf(request), signal });
    by.log.answered(method, response.status, response.headers.get("warning"));
    if (response.ok) {
      if (!sending.json) return await response.text();
      return request.parse === undefined ? await response.json() : request.parse(await response.text());
    }
    const retryAfter = response.headers.get("retry-after");
    const auditId = response.headers.get("audit-id");
    const body = await response.text();
    throw refusal({ method, path: request.path, code: response.status, body, retryAfter, auditId });
  } catch (error) {
    if (isApiError(error)) throw error;
    throw error instanceof SyntaxError ? notJson(request, error) : unreachable(by.server, error);
  }
}

/** Over a session of `node:http2`: the Lease, and headers of several values, which `fetch` would join into one. */
export async function sendByExchange(
  request: KubeRequest,
  sending: Sending,
  by: { path: ExchangePath; log: AnswerLog },
): Promise<unknown> {
  const { method } = request;
  const exchange = { method, path: pathOf(request), headers: sending.headers, body: bodyOf(request) };
  const { status, header, body } = await by.path.collect(exchange, sending.signal);
  by.log.answered(method, status, header("warning"));
  if (status < 200 || status > 299) {
    const retryAfter = header("retry-after");
    throw refusal({ method, path: request.path, code: status, body, retryAfter, auditId: header("audit-id") });
  }
  return sending.json ? parseJson(body, request) : body;
}
