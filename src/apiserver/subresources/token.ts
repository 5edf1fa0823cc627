/** `serviceaccounts/token`: a token for a service account. */
import { randomUUID } from "node:crypto";
import type { Fields, KubeObject } from "../hooks.ts";
import { issuer } from "../authentication/tokens.ts";
import type { FieldError } from "../field-error.ts";
import { invalid, notFound } from "../status.ts";
import { type Exchange, timestamp } from "../verbs/exchange.ts";

interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
}

export function requestToken({ kernel, target }: Exchange, request: KubeObject): Fields {
  const account = kernel.reader.get({ group: "", plural: "serviceaccounts" }, target);
  if (account === undefined) throw notFound({ group: "", plural: "serviceaccounts" }, target.name);
  const spec = (request["spec"] ?? {}) as TokenRequestSpec;
  const seconds = spec.expirationSeconds ?? 3600;
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
  if (errors.length > 0) throw invalid({ group: "authentication.k8s.io", kind: "TokenRequest" }, "", { errors });
  const audiences = spec.audiences?.length ? spec.audiences : [issuer];
  const bound = spec.boundObjectRef;
  const isPod = bound?.kind === "Pod" && bound.name !== undefined;
  const pod = isPod
    ? kernel.reader.get({ group: "", plural: "pods" }, { namespace: target.namespace, name: bound.name ?? "" })
    : undefined;
  if (isPod && pod === undefined) throw notFound({ group: "", plural: "pods" }, bound.name ?? "");
  const now = Math.floor(kernel.now() / 1000);
  const token = kernel.tokens.issue({
    aud: audiences,
    exp: now + seconds,
    iat: now,
    nbf: now,
    iss: issuer,
    sub: `system:serviceaccount:${target.namespace}:${target.name}`,
    jti: randomUUID(),
    "kubernetes.io": {
      namespace: target.namespace,
      serviceaccount: { name: target.name, uid: account.metadata.uid ?? "" },
      ...(pod === undefined ? {} : { pod: { name: pod.metadata.name ?? "", uid: pod.metadata.uid ?? "" } }),
    },
  });
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: {
      ...request.metadata,
      name: target.name,
      namespace: target.namespace,
      uid: account.metadata.uid ?? "",
      creationTimestamp: timestamp(kernel.now()),
    },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: bound ?? null },
    status: { token, expirationTimestamp: timestamp((now + seconds) * 1000) },
  };
}
