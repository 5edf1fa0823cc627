/** Serves AdmissionReviews at one path, and calls its definitions one after the other. */
import { isFields } from "../resource/json.ts";
import { copyOf } from "../resource/edit.ts";
import type { AdmissionRequest, AdmissionResponse, AdmissionReview, AdmissionStatus } from "./admission-review.ts";
import type { AdmissionMember } from "./admission-member.ts";
import type { Collected } from "./admission-run.ts";
import type { PatchOperation } from "./json-patch.ts";
import { ALLOWED, problemStatus } from "./refusal.ts";
import type { RequestProblem, ReviewAnswer, ReviewCall, ReviewEndpoint } from "./review-endpoint.ts";

const V1 = "admission.k8s.io/v1";
const VERSIONS: ReadonlySet<unknown> = new Set([V1, "admission.k8s.io/v1beta1"]);
const OPERATIONS: ReadonlySet<unknown> = new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]);
const BAD_REQUEST = 400;

export class AdmissionEndpoint implements ReviewEndpoint {
  readonly path: string;
  readonly #members: readonly AdmissionMember[];

  /** Creates the endpoint. @param members definitions of one type. */
  constructor(path: string, members: readonly AdmissionMember[]) {
    this.path = path;
    this.#members = members;
  }

  requested(): void {
    for (const member of this.#members) member.requested();
  }

  answered(): void {
    for (const member of this.#members) member.answered();
  }

  async review(body: unknown, { deadline }: ReviewCall): Promise<ReviewAnswer> {
    const problem = reviewProblem(body);
    if (problem !== undefined) return this.malformed({ code: BAD_REQUEST, message: problem });
    const { apiVersion = V1, request } = body as AdmissionReview & { readonly request: AdmissionRequest };
    const response = await this.#respond(request, deadline);
    if ("failure" in response) return failureAnswer(response.failure);
    return { status: 200, body: { kind: "AdmissionReview", apiVersion, response } satisfies AdmissionReview };
  }

  /** Responds to an unreadable request like controller-runtime: HTTP 200, and the rejection in a review. */
  malformed({ code, message }: RequestProblem): ReviewAnswer {
    const response = { uid: "", allowed: false, status: problemStatus(code, message) };
    return { status: 200, body: { response } satisfies AdmissionReview };
  }

  async #respond(request: AdmissionRequest, deadline: number): Promise<AdmissionResponse | Failed> {
    const collected: Collected = { warnings: [], annotations: new Map() };
    const { operation } = request;
    if (isUnknown(operation)) {
      return answer(request, collected, problemStatus(BAD_REQUEST, `unknown operation ${excerpt(operation)}`));
    }
    const patch: PatchOperation[] = [];
    let object = operation === "DELETE" ? request.oldObject : request.object;
    for (const member of this.#members) {
      if (!member.handles(operation)) continue;
      // Each definition gets its own copies of objects; `default` changes a copy of the previous definition's result.
      const own = this.#members.length > 1 ? copyOf(request) : request;
      if (member.type === "validating") object = operation === "DELETE" ? own.oldObject : own.object;
      if (object === undefined || object === null) {
        const what = operation === "DELETE" ? "oldObject" : "object";
        return answer(request, collected, problemStatus(BAD_REQUEST, `the request has no ${what}`));
      }
      const decision = await member.ask(own, object, { collected, deadline });
      if (decision.refused !== undefined && decision.isFailure === true && member.ignoresFailures) {
        return { failure: decision.refused };
      }
      if (decision.refused !== undefined) return answer(request, collected, decision.refused);
      object = decision.object;
      patch.push(...decision.patch);
    }
    const allowed = answer(request, collected, undefined);
    if (patch.length === 0) return allowed;
    return { ...allowed, patch: Buffer.from(JSON.stringify(patch)).toString("base64"), patchType: "JSONPatch" };
  }
}

/** The response of a webhook that could not decide. */
interface Failed {
  readonly failure: AdmissionStatus;
}

/** Anything but 200 is a failure, for which `failurePolicy` decides; a review would be a refusal. */
function failureAnswer({ code, message = "" }: AdmissionStatus): ReviewAnswer {
  return { status: code, body: `${message}\n` };
}

function answer(
  { uid }: AdmissionRequest,
  { warnings, annotations }: Collected,
  refused: AdmissionStatus | undefined,
): AdmissionResponse {
  return {
    uid: uid ?? "",
    allowed: refused === undefined,
    status: refused ?? ALLOWED,
    ...(warnings.length > 0 && { warnings: warnings.map(String) }),
    ...(annotations.size > 0 && {
      auditAnnotations: Object.fromEntries([...annotations].map(([key, value]) => [key, String(value)])),
    }),
  };
}

/** Returns the problem of a body; `undefined` when it is a review with a request. */
function reviewProblem(body: unknown): string | undefined {
  if (!isFields(body)) return "expected an AdmissionReview, got no object";
  const { kind = "AdmissionReview", apiVersion = V1, request } = body;
  if (kind !== "AdmissionReview" || !VERSIONS.has(apiVersion)) {
    return `expected an AdmissionReview of admission.k8s.io/v1 or v1beta1, got ${excerpt(kind)} of ${excerpt(apiVersion)}`;
  }
  if (!isFields(request)) return "the AdmissionReview has no request";
  return typeof (request["uid"] ?? "") === "string" ? undefined : "the uid of the request is no text";
}

/** No definition handles a request without an operation, so the request is allowed. */
function isUnknown(operation: unknown): boolean {
  return operation !== undefined && operation !== "" && !OPERATIONS.has(operation);
}

function excerpt(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
