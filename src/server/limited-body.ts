/** Passes on the body of a request only as far as its own limit and the budget of all requests allow. */
import { HTTPException } from "hono/http-exception";
import { plainResponse } from "./plain-response.ts";
import type { BodyShare } from "./body-budget.ts";

export interface BodyLimits {
  /** The largest body in bytes. */
  readonly most: number;
  readonly share: BodyShare;
}

/**
 * Returns a request whose body is only read as far as it may be.
 *
 * @throws HTTPException when the length that it claims is too large (413) or finds no room (429); so does reading the
 * body.
 */
export async function limitedBody(request: Request, { most, share }: BodyLimits): Promise<Request> {
  const { body } = request;
  if (body === null) return request;
  const length = Number(request.headers.get("content-length") ?? Infinity);
  if (length !== Infinity && length > most) throw tooLarge(most);
  if (share.claim(length)) return request;
  const reader = body.getReader();
  let bytes = 0;
  const limited = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.length;
        const refusal = bytes > most ? tooLarge(most) : (await share.take(value.length)) ? undefined : busy();
        if (refusal === undefined) return controller.enqueue(value);
        controller.error(refusal);
        await reader.cancel(refusal).catch(() => {});
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Request(request, { body: limited, duplex: "half" } as RequestInit);
}

function tooLarge(most: number): HTTPException {
  return refusal(413, `413 the body is larger than ${most} bytes\n`);
}

function busy(): HTTPException {
  return refusal(429, "429 too many requests with bodies at once\n", { "Retry-After": "1" });
}

function refusal(status: 413 | 429, text: string, headers?: Record<string, string>): HTTPException {
  return new HTTPException(status, { message: text.trim(), res: plainResponse(text, status, headers) });
}
