/**
 * Authorizes writes of a ResourceClaim's status: allocating requires the permission to bind, reporting devices that
 * of their driver.
 */
import { deepEquals } from "#platform/equality";
import type { FieldError } from "../field-error.ts";
import type { Attributes, Fields, KubeObject, WriteContext } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";
import { accessForbidden } from "./forbidden.ts";

interface ClaimWrite {
  readonly next: KubeObject;
  readonly old: KubeObject;
  readonly context: WriteContext;
  /** The verb of the request. */
  readonly verb: string;
}

export function claimAccess({ next, old, context, verb }: ClaimWrite): readonly FieldError[] {
  const { authorizer, user, namespace } = context;
  const [status, before] = [inner(next, "status"), inner(old, "status")];
  const attributes = {
    user,
    isResource: true,
    path: "",
    group: "resource.k8s.io",
    resource: "resourceclaims",
  } as const;
  const refusal = (question: Attributes): string | undefined => {
    const { allowed, reason } = authorizer.authorize(question);
    return allowed ? undefined : accessForbidden(question, reason).message;
  };
  const errors: FieldError[] = [];
  const isBound = ["allocation", "reservedFor"].some(
    (field) => !deepEquals(orNone(status[field]), orNone(before[field])),
  );
  const why = isBound ? refusal({ ...attributes, verb, subresource: "binding", namespace: "", name: "" }) : undefined;
  if (why !== undefined) {
    const detail = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${why}`;
    errors.push({ type: "Forbidden", field: "status.allocation", detail });
  }
  if (!status["allocation"]) return errors;
  const verbs = [...(isOnNode(context, inner(status, "allocation")) ? ["associated-node"] : []), "arbitrary-node"].map(
    (prefix) => `${prefix}:${verb}`,
  );
  for (const name of changedDrivers(status, before)) {
    const refusals = verbs.map((one) => refusal({ ...attributes, verb: one, subresource: "driver", namespace, name }));
    if (refusals.includes(undefined)) continue;
    const detail = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission: ${refusals[0]}`;
    errors.push({ type: "Forbidden", field: "status.devices", detail });
  }
  return errors;
}

function orNone(value: unknown): unknown {
  return (Array.isArray(value) && value.length === 0) || value === null ? undefined : value;
}

function changedDrivers(status: Fields, before: Fields): readonly string[] {
  const keyOf = ({ driver, pool, device, shareID }: Fields): string => JSON.stringify([driver, pool, device, shareID]);
  const rest = new Map(each(before, "devices").map((device) => [keyOf(device), device]));
  const drivers = new Set<string>();
  for (const device of each(status, "devices")) {
    const known = rest.get(keyOf(device));
    rest.delete(keyOf(device));
    if (known === undefined || !deepEquals(known, device)) drivers.add(String(device["driver"]));
  }
  for (const device of rest.values()) drivers.add(String(device["driver"]));
  return [...drivers].sort();
}

/** Whether the request comes from a service account on the only node that the claim is allocated to. */
function isOnNode({ user }: WriteContext, allocation: Fields): boolean {
  const [term, ...others] = each(inner(allocation, "nodeSelector"), "nodeSelectorTerms");
  if (term === undefined || others.length > 0 || each(term, "matchExpressions").length > 0) return false;
  const [field, ...more] = each(term, "matchFields");
  if (field === undefined || more.length > 0 || field["key"] !== "metadata.name" || field["operator"] !== "In")
    return false;
  const names = user.extra?.["authentication.kubernetes.io/node-name"] ?? [];
  return user.username.startsWith("system:serviceaccount:") && deepEquals(field["values"], names) && names.length === 1;
}
