/** Turns a response into its result or its error, for all carriers. */
import { ApiError, type Status } from "../errors/api-error.ts";
import { hasTooManyValues } from "../encoding/json-values.ts";
import type { KubeRequest } from "./kube-request.ts";
import { MOST_VALUES } from "../limits.ts";
import { retryAfterOf } from "./retry.ts";

/** The most characters that an error repeats of a body other than a `Status`. */
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

/** Makes the error of a response other than success. */
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
      // The body is not JSON after all, so its text is the message.
    }
  }
  return { message: body.trim().slice(0, LONGEST_EXCERPT) || undefined };
}

/** The response is larger than its limit; a list can be requested in smaller pages. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";

  constructor(request: { method: string; path: string }, most: number) {
    super(`Cannot read the answer to ${request.method} ${request.path}: it is larger than ${most / 1024 / 1024} MiB`);
  }
}

/** @returns true for an {@link AnswerTooLarge}. */
export function isAnswerTooLarge(error: unknown): boolean {
  return error instanceof AnswerTooLarge;
}

/**
 * @throws Error that names the request when the text is not JSON, or would take far more memory than it has characters.
 */
export function parseJson(text: string, request: Pick<KubeRequest, "method" | "path">): unknown {
  checkValues(text, request);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(request, error);
  }
}

/** @throws Error that names the request. */
export function checkValues(json: string | Uint8Array, request: { method: string; path: string }): void {
  if (!hasTooManyValues(json)) return;
  throw new Error(
    `Cannot read the answer to ${request.method} ${request.path}: it holds more than ${MOST_VALUES / 1e6} million values`,
  );
}

export function notJson(request: { method: string; path: string }, cause: unknown): Error {
  return new Error(`Cannot read the answer to ${request.method} ${request.path}: it is not JSON`, { cause });
}
