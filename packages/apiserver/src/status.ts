/** `Status` objects, which report errors. @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
import type { KubeObject } from "./hooks.ts";
import { causeReason, errorBody, errorText, type FieldError, goQuoted } from "./field-error.ts";

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** Thrown anywhere on the way of a request, whose response is then this `Status`. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, { message, details }: { message: string; details?: StatusDetails }) {
    super(message);
    this.name = "StatusError";
    const rest = reason === "" ? {} : { reason };
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...rest,
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** The resource that a `Status` names: most errors have its plural, `Invalid` has its kind. */
interface Subject {
  readonly group: string;
  readonly plural: string;
}

function qualified({ group, plural }: Subject): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function about(subject: Subject, name: string): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    kind: subject.plural,
  };
}

export function notFound(subject: Subject, name: string): StatusError {
  const message = `${qualified(subject)} ${goQuoted(name)} not found`;
  return new StatusError(404, "NotFound", { message, details: about(subject, name) });
}

/** Makes the error. @param existing the object that exists already */
export function alreadyExists(subject: Subject, name: string, existing?: KubeObject): StatusError {
  const state = existing?.metadata.deletionTimestamp === undefined ? "" : "object is being deleted: ";
  const message = `${state}${qualified(subject)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", { message, details: about(subject, name) });
}

/** Makes the error of a name that was generated, or could have been. */
export function noUniqueName(subject: Subject, name: string, existing?: KubeObject): StatusError {
  const { message = "" } = alreadyExists(subject, name, existing).status;
  return new StatusError(409, "AlreadyExists", {
    message: `${message}, the server was not able to generate a unique name for the object`,
    details: { ...about(subject, name), retryAfterSeconds: 1 },
  });
}

export function conflict(subject: Subject, name: string, { why }: { readonly why: string }): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", { message, details: about(subject, name) });
}

export function forbidden(subject: Subject, name: string, { why }: { readonly why: string }): StatusError {
  const what = name === "" ? qualified(subject) : `${qualified(subject)} "${name}"`;
  return new StatusError(403, "Forbidden", { message: `${what} is forbidden: ${why}`, details: about(subject, name) });
}

export function methodNotAllowed(): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return new StatusError(405, "MethodNotAllowed", { message, details: {} });
}

/** Uses the words of the server of custom objects. */
export function verbNotSupported(subject: Subject, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind "${qualified(subject)}"`;
  return new StatusError(405, "MethodNotAllowed", { message, details: { group: subject.group, kind: subject.plural } });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", { message });
}

export function internalError(why: string): StatusError {
  const message = `Internal error occurred: ${why}`;
  return new StatusError(500, "InternalError", { message, details: { causes: [{ message: why }] } });
}

/** Makes a 410: the requested version is too old to be known. */
export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", { message });
}

/** Makes the 422 of an object with invalid fields. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  { errors }: { readonly errors: readonly FieldError[] },
): StatusError {
  const causes = errors.map((error) => ({
    reason: causeReason(error.type),
    message: errorBody(error),
    field: error.field,
  }));
  const texts = [...new Set(errors.map(errorText))];
  const qualifiedKind = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const what = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const details = {
    ...(name === "" ? {} : { name }),
    ...(kind.group === "" ? {} : { group: kind.group }),
    ...(kind.kind === "" ? {} : { kind: kind.kind }),
    causes,
  };
  const message = `${qualifiedKind} "${name}" is invalid${texts.length === 0 ? "" : `: ${what}`}`;
  return new StatusError(422, "Invalid", { message, details });
}
