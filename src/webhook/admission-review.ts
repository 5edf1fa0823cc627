/**
 * The AdmissionReview of the API server.
 *
 * `admission.k8s.io/v1` and `v1beta1` have the same fields, so one set of types serves both.
 *
 * @see
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-request-and-response
 */
import type { StatusDetails } from "../kube/errors/api-error.ts";

/** The request's operation on the object. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Who sent the request to the API server. */
export interface UserInfo {
  readonly username?: string | undefined;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The API server's request, unchanged. */
export interface AdmissionRequest {
  readonly uid: string;
  /** The kind of `object`, after a conversion to the version that the webhook requested. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string | undefined;
  /** The original kind, resource and subresource, before the conversion of `matchPolicy: Equivalent`. */
  readonly requestKind?: GroupVersionKind | undefined;
  readonly requestResource?: GroupVersionResource | undefined;
  readonly requestSubResource?: string | undefined;
  /** The name; empty while the server has not generated it yet. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  /** The object; absent for DELETE. */
  readonly object?: unknown;
  /** The existing object; present for UPDATE and DELETE. */
  readonly oldObject?: unknown;
  readonly dryRun?: boolean | undefined;
  /** The options of the operation, such as `CreateOptions` with its `fieldManager`. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** The `status` of a response. Its empty `metadata` is what Go's encoding of `metav1.Status` writes. */
export interface AdmissionStatus {
  readonly metadata: Readonly<Record<string, never>>;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails | undefined;
  readonly code: number;
}

/** The response to the API server. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status: AdmissionStatus;
  /** A JSON patch, encoded in base64. */
  readonly patch?: string | undefined;
  readonly patchType?: "JSONPatch" | undefined;
  readonly auditAnnotations?: Readonly<Record<string, string>> | undefined;
  readonly warnings?: readonly string[] | undefined;
}

export interface AdmissionReview {
  readonly kind?: "AdmissionReview" | undefined;
  readonly apiVersion?: string | undefined;
  readonly request?: AdmissionRequest | undefined;
  readonly response?: AdmissionResponse | undefined;
}
