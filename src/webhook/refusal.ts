/** Makes the response of a rejected request. */
import { type ApiError, isApiError, type StatusCause } from "../kube/errors/api-error.ts";
import type { AdmissionRequest, AdmissionStatus } from "./admission-review.ts";
import { type Denied, isDenied } from "./denied.ts";

/** The empty `metadata` of a status, as Go writes it. */
const NO_METADATA: Readonly<Record<string, never>> = Object.freeze({});

export const ALLOWED: AdmissionStatus = Object.freeze({ metadata: NO_METADATA, code: 200 });

const UNPROCESSABLE = 422;

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Gone",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Makes a rejection that does not come from the author, such as of a request that cannot be decoded. */
export function problemStatus(code: number, message: string): AdmissionStatus {
  return { metadata: NO_METADATA, message, code };
}

/** Returns the rejection for a thrown `Denied` or error of the API server; `undefined` for anything else. */
export function thrownStatus(error: unknown, request: AdmissionRequest): AdmissionStatus | undefined {
  if (isDenied(error)) return deniedStatus(error, request);
  return isApiError(error) ? apiStatus(error) : undefined;
}

/** An error of the API server becomes the response, as in controller-runtime. */
function apiStatus({ status, code, reason, message }: ApiError): AdmissionStatus {
  return {
    metadata: NO_METADATA,
    message: status.message ?? message,
    reason,
    ...(status.details !== undefined && { details: status.details }),
    code,
  };
}

function deniedStatus(denied: Denied, request: AdmissionRequest): AdmissionStatus {
  const { message, code } = denied;
  const reason = denied.reason ?? REASONS[code];
  const fields = Object.entries(denied.fields ?? {});
  const causes = fields.map(([field, what]): StatusCause => ({ reason: "FieldValueInvalid", message: what, field }));
  const lines = causes.map(({ field, message: what }) => `${field}: ${what}`);
  return {
    metadata: NO_METADATA,
    message: lines.length === 0 ? message : `${message}: ${lines.length === 1 ? lines[0]! : `[${lines.join(", ")}]`}`,
    ...(reason !== undefined && { reason }),
    ...(causes.length > 0 && { details: { ...objectDetails(code, request), causes } }),
    code,
  };
}

/**
 * kubectl prints an invalid object by its kind and name and then the causes, and drops the message of a status with
 * those fields, so they are omitted when there are no causes.
 */
function objectDetails(
  code: number,
  { kind, name }: AdmissionRequest,
): { name?: string; group?: string; kind?: string } {
  if (code !== UNPROCESSABLE || kind === undefined) return {};
  return { ...(name && { name }), ...(kind.group && { group: kind.group }), kind: kind.kind };
}
