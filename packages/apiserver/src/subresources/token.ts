/** Serves `serviceaccounts/token`, which issues a token for a service account. */
import { randomUUID } from "node:crypto";
import type { Fields, KubeObject, ResourceName } from "../hooks.ts";
import type { FieldError } from "../field-error.ts";
import { badRequest, conflict, invalid, notFound } from "../status.ts";
import { timestamp } from "../timestamp.ts";
import type { ApiCall } from "../verbs/api-call.ts";
import type { Action, ActionOptions } from "./action.ts";

const kind = { group: "authentication.k8s.io", kind: "TokenRequest" };

const accounts = { group: "", plural: "serviceaccounts" };

/** The lifetime that older clients request. Their tokens live for a year, with a warning after this time. */
const extended = { asked: 3607, lives: 365 * 24 * 60 * 60 };

interface Reference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface TokenRequestSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: Reference | null;
}

/** A token lives for an hour unless the request says otherwise. */
function addDefaults(request: KubeObject): void {
  const spec = (request["spec"] ??= {}) as Fields;
  spec["expirationSeconds"] ??= 3600;
}

/** Returns the request with all its fields, including those that are not set. */
function completeTokenRequest(request: KubeObject): KubeObject {
  const { audiences = null, expirationSeconds, boundObjectRef = null } = (request["spec"] ?? {}) as TokenRequestSpec;
  const spec = { audiences, expirationSeconds, boundObjectRef };
  return { ...request, spec, status: { token: "", expirationTimestamp: null } };
}

export const token: Action = { addDefaults, complete: completeTokenRequest, run: requestToken };

async function requestToken(call: ApiCall, request: KubeObject, { admit }: ActionOptions): Promise<Fields> {
  const { kernel, target } = call;
  const { name, namespace, uid } = request.metadata;
  if (name && name !== target.name) throw mismatch(target.name, { what: "name", value: name });
  if (namespace && namespace !== target.namespace) throw mismatch(target.name, { what: "namespace", value: namespace });
  const account = kernel.reader.get(accounts, target);
  if (account === undefined) throw notFound(accounts, target.name);
  const accountUid = account.metadata.uid ?? "";
  if (uid && uid !== accountUid) {
    const why = `the UID in the token request (${uid}) does not match the UID of the service account (${accountUid})`;
    throw conflict({ group: kind.group, plural: kind.kind }, target.name, { why });
  }
  const spec = (request["spec"] ?? {}) as TokenRequestSpec;
  const { issuer, audiences: own, longestLife, extendsLife } = kernel.tokens.issuer;
  const asked = spec.expirationSeconds ?? 3600;
  checkLife(asked);
  const seconds = Math.min(asked, longestLife);
  if (seconds < asked) call.warnings.push(`requested expiration of ${asked} seconds shortened to ${seconds} seconds`);
  const audiences = spec.audiences?.length ? spec.audiences : own;
  const { namespace: inside } = target;
  const creationTimestamp = timestamp(kernel.now());
  const metadata = { ...request.metadata, name: target.name, namespace: inside, uid: accountUid, creationTimestamp };
  await admit(completeTokenRequest({ ...request, metadata, spec: { ...spec, audiences } }));
  const bound = boundClaims(call, spec.boundObjectRef ?? undefined);
  const now = Math.floor(kernel.now() / 1000);
  const isExtended =
    extendsLife &&
    "pod" in bound &&
    seconds === extended.asked &&
    audiences.every((audience) => own.includes(audience));
  const text = kernel.tokens.issue({
    aud: audiences,
    exp: now + (isExtended ? extended.lives : seconds),
    iat: now,
    nbf: now,
    iss: issuer,
    sub: `system:serviceaccount:${target.namespace}:${target.name}`,
    jti: randomUUID(),
    "kubernetes.io": {
      namespace: target.namespace,
      serviceaccount: { name: target.name, uid: accountUid },
      ...bound,
      ...(isExtended ? { warnafter: now + seconds } : {}),
    },
  });
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata,
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token: text, expirationTimestamp: timestamp((now + seconds) * 1000) },
  };
}

function mismatch(account: string, { what, value }: { readonly what: string; readonly value: string }): Error {
  const detail = `must match the service account ${what} if specified`;
  const error = { type: "Invalid", field: `metadata.${what}`, badValue: value, detail } as const;
  return invalid(kind, account, { errors: [error] });
}

function checkLife(seconds: number): void {
  const errors: FieldError[] = [];
  const field = "spec.expirationSeconds";
  if (seconds < 600)
    errors.push({
      type: "Invalid",
      field,
      badValue: seconds,
      detail: "may not specify a duration less than 10 minutes",
    });
  if (seconds > 2 ** 32)
    errors.push({
      type: "Invalid",
      field,
      badValue: seconds,
      detail: "may not specify a duration larger than 2^32 seconds",
    });
  if (errors.length > 0) throw invalid(kind, "", { errors });
}

type Bound = Readonly<Record<string, { readonly name: string; readonly uid?: string }>>;

/** Returns the claims of the object to which the token is bound. @throws StatusError */
function boundClaims({ kernel, target }: ApiCall, reference: Reference | undefined): Bound {
  if (reference === undefined) return {};
  const { apiVersion = "", kind: bound = "", name = "", uid = "" } = reference;
  const [group, version] = groupAndVersion(apiVersion);
  const plural = group === "" ? plurals.get(bound) : undefined;
  if (plural === undefined) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${bound}`);
  if (name === "") throw badRequest("Name parameter required.");
  const place = { namespace: plural === "nodes" ? "" : target.namespace, name };
  const resource: ResourceName = { group: "", plural };
  const object = kernel.reader.get(resource, place);
  if (object === undefined) throw notFound(resource, name);
  const actual = object.metadata.uid ?? "";
  const spec = (object["spec"] ?? {}) as { serviceAccountName?: string; nodeName?: string };
  if (bound === "Pod" && spec.serviceAccountName !== target.name) {
    const account = JSON.stringify(target.name);
    throw badRequest(
      `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`,
    );
  }
  if (uid !== "" && uid !== actual) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group, plural: bound }, name, { why });
  }
  const own = { [bound.toLowerCase()]: { name, uid: actual } };
  if (bound !== "Pod" || !spec.nodeName) return own;
  const node = kernel.reader.get({ group: "", plural: "nodes" }, { namespace: "", name: spec.nodeName });
  const nodeUid = node?.metadata.uid;
  return { ...own, node: { name: spec.nodeName, ...(nodeUid === undefined ? {} : { uid: nodeUid }) } };
}

const plurals: ReadonlyMap<string, string> = new Map([
  ["Pod", "pods"],
  ["Node", "nodes"],
  ["Secret", "secrets"],
]);

/** Splits an apiVersion; an invalid one yields nothing. */
function groupAndVersion(apiVersion: string): [string, string] {
  const parts = apiVersion.split("/");
  if (parts.length > 2) return ["", ""];
  return parts.length === 2 ? [parts[0]!, parts[1]!] : ["", apiVersion];
}
