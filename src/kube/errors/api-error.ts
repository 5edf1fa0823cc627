/** The errors of the API server, with advice on what to do. */
import { describeRequest, type RequestTarget } from "./request-target.ts";

/** @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
export interface Status {
  readonly kind?: "Status" | undefined;
  readonly apiVersion?: string | undefined;
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly code?: number | undefined;
  readonly details?: StatusDetails | undefined;
}

export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

export interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

export interface ApiErrorInit {
  /** The HTTP method, such as `GET`. */
  readonly method: string;
  /** The path of the request, without the server and the query. */
  readonly path: string;
  /** Whether the request was a watch, whose verb does not follow from its method. */
  readonly watch?: boolean | undefined;
  readonly status: Status;
  /** The HTTP status code. @default status.code */
  readonly code?: number | undefined;
  /** The header `retry-after`, in seconds. */
  readonly retryAfter?: number | undefined;
  /** The header `audit-id`. */
  readonly auditId?: string | undefined;
}

/**
 * A response of the API server other than success.
 *
 * The message names the request, the server's reason and message, and the remedy. Recognise it with {@link isApiError}
 * and the related functions, never with `instanceof`: there may be several copies of this class.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status code, such as 404. */
  readonly code: number;
  /** The reason, such as `NotFound`; derived from the code if the server gave none. */
  readonly reason: string;
  readonly status: Status;
  /** The Kubernetes verb, such as `get`, `list`, `update`. */
  readonly verb: string;
  readonly path: string;
  readonly target: RequestTarget;
  /** The seconds after which the server permits a retry. */
  readonly retryAfter: number | undefined;
  /** Finds the request in the server's audit log. */
  readonly auditId: string | undefined;

  constructor(init: ApiErrorInit) {
    const code = init.code ?? init.status.code ?? 500;
    const reason = init.status.reason || (REASONS[code] ?? `HTTP${code}`);
    const target = describeRequest(init.method, init.path, init.watch);
    super(messageOf(target, { code, reason, status: init.status }));
    this.code = code;
    this.reason = reason;
    this.status = init.status;
    this.verb = target.verb;
    this.path = init.path;
    this.target = target;
    this.auditId = init.auditId;
    this.retryAfter = init.retryAfter ?? secondsOf(init.status.details?.retryAfterSeconds);
  }
}

/** The cluster could not be reached, or the connection was lost before the answer was complete. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  /**
   * The code of the failure, such as `ECONNREFUSED`, `ECONNRESET`, `ENETRESET` (no answer to a ping), `EMSGSIZE` (the
   * server sends too much), `EBADMSG` (it breaks the protocol), `ENOTFOUND`, `ETIMEDOUT` or a TLS code.
   */
  readonly code: string;
  readonly server: string;

  constructor(server: string, options: { code: string; message: string; cause?: unknown }) {
    super(`Cannot reach ${server}: ${options.message}`, { cause: options.cause });
    this.code = options.code;
    this.server = server;
  }
}

/** The body may come from the server or from a proxy. */
function secondsOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function messageOf(target: RequestTarget, answer: { code: number; reason: string; status: Status }): string {
  const reason = answer.status.message ? `: ${answer.status.message}` : "";
  const advice = adviceFor(target, answer.code, answer.status);
  return `Cannot ${target.verb} ${target.what}: ${answer.reason} (${answer.code})${reason}${advice && `. ${advice}`}`;
}

function adviceFor(target: RequestTarget, code: number, status: Status): string {
  switch (code) {
    case 401:
      return "The credentials were refused: check the kubeconfig's user, or renew its token or certificate";
    case 403: {
      // Quotas, admission and terminating namespaces also answer 403, and no role helps against these.
      if (status.message !== undefined && !/ cannot | not allowed /.test(` ${status.message} `)) return "";
      // An apply to an absent object may be refused for lack of "create", and a watch for lack of "list".
      const verb = / cannot ([a-z]+) resource /.exec(status.message ?? "")?.[1] ?? target.verb;
      return target.resource
        ? `Grant it in a ${target.namespace === undefined ? "ClusterRole" : "Role"}: apiGroups ["${target.group}"], ` +
            `resources ["${target.subresource ? `${target.resource}/${target.subresource}` : target.resource}"], ` +
            `verbs ["${verb}"]`
        : `Grant it in a ClusterRole: nonResourceURLs ["${target.what}"], verbs ["${target.verb}"]`;
    }
    case 404:
      return target.group.includes(".") && target.name === undefined && status.details?.name === undefined
        ? "The server has no such kind: apply its CustomResourceDefinition"
        : "";
    case 409:
      return status.details?.causes?.some(({ reason }) => reason === "FieldManagerConflict")
        ? "Leave these fields out, or take them over with force: true"
        : "";
    default:
      return "";
  }
}

/** @returns true for an {@link ApiError} of this or another copy of the class. */
export function isApiError(error: unknown): error is ApiError {
  return (
    error instanceof Object && "name" in error && error.name === "ApiError" && "reason" in error && "code" in error
  );
}

/** The object, kind or path does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 404;
}

/**
 * The object has changed since it was read, or a precondition did not hold. It is not the error of an object that
 * exists already.
 */
export function isConflict(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 409 && error.reason !== "AlreadyExists";
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return isApiError(error) && error.reason === "AlreadyExists";
}

/** The server considers the request itself invalid. */
export function isBadRequest(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 400;
}

export function isForbidden(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 403;
}

/** The object violates its schema or its rules. */
export function isInvalid(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 422;
}

/** A test of a JSON patch failed; a violation of a schema or rule names its fields instead. */
export function isTestFailed(error: unknown): error is ApiError {
  return isInvalid(error) && !error.status.details?.causes?.length;
}

/** The resource version or continue token is too old: a new list is needed. */
export function isGone(error: unknown): error is ApiError {
  return isApiError(error) && (error.code === 410 || error.reason === "Expired" || error.reason === "Gone");
}

export function isTooManyRequests(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 429;
}

export function isUnauthorized(error: unknown): error is ApiError {
  return isApiError(error) && error.code === 401;
}

/** The server was not reached, or the connection was lost: it is unknown whether a write took place. */
export function isUnreachable(error: unknown): error is UnreachableError {
  return error instanceof Object && "name" in error && error.name === "UnreachableError" && "server" in error;
}
