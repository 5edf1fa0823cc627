/** AdmissionReview: the request that a webhook gets, and its response. */
import type { AdmissionAttributes, Fields, GroupVersionKind, KindRow, KubeObject } from "../hooks.ts";
import { parseJson } from "../numbers.ts";

/** Makes the `request` of a review. */
export function reviewRequest(
  { context, object, oldObject, options, matched }: AdmissionAttributes,
  uid: string,
): Fields {
  const { row, operation, subresource, namespace, name, user, dryRun } = context;
  const inVersion = (one: KubeObject | undefined): KubeObject | null => (one === undefined ? null : sent(one));
  const seen = matched ?? row;
  const sub = subresource === "" ? {} : { subResource: subresource, requestSubResource: subresource };
  return {
    uid,
    kind: kindOf(seen, subresource),
    resource: resourceOf(seen),
    requestKind: kindOf(row, subresource),
    requestResource: resourceOf(row),
    ...sub,
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      ...(user.username === "" ? {} : { username: user.username }),
      ...(user.uid ? { uid: user.uid } : {}),
      ...(user.groups.length > 0 ? { groups: user.groups } : {}),
      ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
    },
    object: inVersion(object),
    oldObject: inVersion(oldObject),
    dryRun,
    options,
  };
}

/** A subresource with a kind of its own, such as a scale, has one version. */
function kindOf(row: KindRow, subresource: string): GroupVersionKind {
  const part = row.subresources.find(({ name }) => name === subresource)?.responseKind;
  const { group, version, kind } = part === undefined || part.kind === row.kind ? row : part;
  return { group, version, kind };
}

function resourceOf({ group, version, plural }: KindRow): Fields {
  return { group, version, resource: plural };
}

function sent(object: KubeObject): KubeObject {
  // Options of connections, such as those of `exec`, have no metadata.
  if (!("metadata" in object)) return object;
  const { creationTimestamp, ...metadata } = object.metadata;
  const complete = creationTimestamp ? { ...metadata, creationTimestamp } : metadata;
  return { ...object, metadata: complete };
}

/** What a webhook decided. */
export interface Verdict {
  readonly allowed: boolean;
  readonly status: Fields | undefined;
  readonly warnings: readonly string[];
  /** The operations of a JSON patch; absent when nothing changes. */
  readonly patch: unknown;
}

export interface ExpectedReview {
  readonly uid: string;
  readonly apiVersion: string;
  readonly isMutating: boolean;
}

/** Reads a webhook's response. @throws Error that says in the server's words what is wrong with it */
export function readReview(body: unknown, { uid, apiVersion, isMutating }: ExpectedReview): Verdict {
  const review = (typeof body === "object" && body !== null ? body : {}) as Fields;
  const response = review["response"] as Fields | undefined | null;
  if (!response) throw new Error("webhook response was absent");
  const patch = typeof response["patch"] === "string" ? response["patch"] : "";
  const wrong = patch.replaceAll(/[\r\n]/g, "").search(/[^A-Za-z0-9+/=]/);
  if (wrong >= 0) throw new UndecodableAnswer(`illegal base64 data at input byte ${wrong}`);
  if (apiVersion === "admission.k8s.io/v1") {
    checkV1(review, response, { uid, isMutating, patch });
  }
  return {
    allowed: response["allowed"] === true,
    status: response["status"] as Fields | undefined,
    warnings: (response["warnings"] ?? []) as string[],
    patch: patch === "" ? undefined : parsedPatch(patch),
  };
}

interface Given {
  readonly uid: string;
  readonly isMutating: boolean;
  readonly patch: string;
}

function checkV1(review: Fields, response: Fields, { uid, isMutating, patch }: Given): void {
  if (review["kind"] === "AdmissionReview" && review["apiVersion"] === "admission.k8s.io/v1beta1")
    throw new UndecodableAnswer("converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion");
  const answeredUid = String(response["uid"] ?? "");
  if (answeredUid !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answeredUid)}`);
  const [kind, version] = [String(review["kind"] ?? ""), String(review["apiVersion"] ?? "")];
  if (kind !== "AdmissionReview" || version !== "admission.k8s.io/v1") {
    const [group, short] = version.includes("/") ? version.split("/") : ["", version];
    const expected = "admission.k8s.io/v1, Kind=AdmissionReview";
    throw new Error(`expected webhook response of ${expected}, got ${group}/${short}, Kind=${kind}`);
  }
  const patchType = response["patchType"];
  if (!isMutating) {
    if (patch !== "") throw new Error("validating webhook may not return response.patch");
    if (patchType !== undefined && patchType !== null)
      throw new Error("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== "" && !patchType) throw new Error("webhook returned response.patch but not response.patchType");
  if (patch === "" && patchType) throw new Error("webhook returned response.patchType but not response.patch");
  if (patchType && patchType !== "JSONPatch")
    throw new Error(`webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`);
}

/** Thrown for a response that is not a review of the requested version. */
export class UndecodableAnswer extends Error {}

/** Thrown for a patch that cannot be decoded, as opposed to a missing one. */
export class UndecodablePatch extends Error {}

function parsedPatch(text: string): unknown {
  const patch = Buffer.from(text, "base64").toString();
  try {
    return parseJson(patch);
  } catch (error) {
    throw new UndecodablePatch((error as Error).message);
  }
}
