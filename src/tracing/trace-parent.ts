/** The trace that a request belongs to, by its header `traceparent`. @see https://www.w3.org/TR/trace-context/ */
import { type Context, isSpanContextValid, ROOT_CONTEXT, trace } from "@opentelemetry/api";

export function parentOf(headers: Headers): Context {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(
    headers.get("traceparent") ?? "",
  );
  if (match === null) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "00"] = match;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
