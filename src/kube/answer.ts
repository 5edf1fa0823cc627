/** What every path of requests makes of an answer. */
import { ApiError, type Status } from "./api-error.ts";
import type { KubeRequest } from "./kube-request.ts";
import { retryAfterOf } from "./retry.ts";

/** The longest part of a body that is no `Status` that an error repeats. */
const LONGEST_EXCERPT = 500;

export interface RefusedAnswer {
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly body: string;
  readonly retryAfter: string | null | undefined;
  readonly auditId?: string | null | undefined;
  readonly watch?: boolean | undefined;
}

/** Makes the error of an answer other than success. */
export function refusal(answer: RefusedAnswer): ApiError {
  const { method, path, code, watch } = answer;
  return new ApiError({
    method,
    path,
    code,
    watch,
    status: statusOf(answer.body),
    retryAfter: retryAfterOf(answer.retryAfter),
    auditId: answer.auditId ?? undefined,
  });
}

function statusOf(body: string): Status {
  if (body.startsWith("{")) {
    try {
      const parsed = JSON.parse(body) as Status;
      if (parsed.kind === "Status") return parsed;
    } catch {
      // Not JSON after all: its text is the message.
    }
  }
  return { message: body.trim().slice(0, LONGEST_EXCERPT) || undefined };
}

/** @throws Error that names the request when the text is not JSON. */
export function parseJson(text: string, request: Pick<KubeRequest, "method" | "path" | "parse">): unknown {
  try {
    return request.parse === undefined ? JSON.parse(text) : request.parse(text);
  } catch (error) {
    throw notJson(request, error);
  }
}

export function notJson(request: { method: string; path: string }, cause: unknown): Error {
  return new Error(`Cannot read the answer to ${request.method} ${request.path}: it is not JSON`, { cause });
}
