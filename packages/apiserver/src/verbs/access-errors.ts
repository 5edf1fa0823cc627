/** Validation errors that come from authorization. */
import { claimAccess } from "../authorization/claim-access.ts";
import { policyAccess } from "../authorization/policy-access.ts";
import { attributesOf } from "../authorization/attributes.ts";
import type { FieldError } from "../field-error.ts";
import type { KubeObject, WriteContext } from "../hooks.ts";
import { apiVersionOf } from "../registry/resource.ts";
import type { ApiCall } from "./api-call.ts";

interface WriteStates {
  readonly next: KubeObject;
  /** The object before; `undefined` for a new one. */
  readonly old: KubeObject | undefined;
  readonly context: WriteContext;
}

/** Inserts the authorization errors at their place among the other errors. */
export function withAccessErrors(
  { kernel, resource: { row }, target, request, query, user }: ApiCall,
  errors: readonly FieldError[],
  { next, old, context }: WriteStates,
): readonly FieldError[] {
  if (row.group === "resource.k8s.io" && row.kind === "ResourceClaim" && target.subresource === "status" && old) {
    const { verb } = attributesOf(request.method, { path: new URL(request.url).pathname, query }, user);
    return [...claimAccess({ next, old, context, verb }), ...errors];
  }
  if (row.group !== "admissionregistration.k8s.io" || errors.length > 0 || target.subresource !== "") return errors;
  if (!/^(?:Validat|Mutat)ingAdmissionPolicy(?:Binding)?$/.test(row.kind)) return errors;
  const resolve = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) =>
    kernel.registry.rows().find((one) => one.kind === kind && apiVersionOf(one) === apiVersion)?.plural;
  return policyAccess({ next, old, context, resolve });
}
