/**
 * ResourceQuota: charges a request to the quotas before the object is stored. @see
 * https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
import type { AdmissionAttributes, Fields, KubeObject } from "../../hooks.ts";
import { inner } from "../../validation/fill.ts";
import { refusal } from "../plugin.ts";
import { add, excess, listFields, listText, masked, type ResourceList, resourceList } from "../resource-list.ts";
import { requirementsOf } from "./scopes.ts";
import { type Evaluator, evaluatorOf } from "./usage.ts";

export interface Booking {
  readonly quota: KubeObject;
  readonly status: Fields;
}

/**
 * Checks a write against the quotas of its namespace.
 *
 * @returns the amounts to charge to each quota
 * @throws StatusError 403 when a quota does not allow it
 */
export function bookings(attributes: AdmissionAttributes): Booking[] {
  const { context, object } = attributes;
  if (!context.row.namespaced || object === undefined || context.operation === "DELETE") return [];
  if (context.row.group === "" && context.row.plural === "events") return [];
  const quotas = context.reader.list({ group: "", plural: "resourcequotas" }, context.namespace);
  if (quotas.length === 0) return [];
  const evaluator = evaluatorOf(context.row);
  if (!evaluator.handles(attributes)) return [];
  const now = Date.parse(context.now);
  const concerned = quotas.filter((quota) => concerns(quota, evaluator, object));
  for (const quota of concerned) checkComplete(attributes, quota, evaluator);
  const usage = evaluator.usage(object, now);
  const old = attributes.oldObject;
  return concerned.flatMap((quota) => {
    const isCounted = old !== undefined && concerns(quota, evaluator, old);
    const delta = isCounted ? excess(usage, evaluator.usage(old, now)) : usage;
    const booking = book(attributes, quota, delta);
    return booking === undefined ? [] : [booking];
  });
}

function hardOf(quota: KubeObject): ResourceList {
  return resourceList(inner(quota, "status")["hard"]);
}

function usedOf(quota: KubeObject): ResourceList {
  return resourceList(inner(quota, "status")["used"]);
}

function concerns(quota: KubeObject, evaluator: Evaluator, object: KubeObject): boolean {
  if (![...hardOf(quota).keys()].some((name) => evaluator.counts(name))) return false;
  return requirementsOf(quota).every((requirement) => evaluator.matches?.(requirement, object) ?? false);
}

function checkComplete(attributes: AdmissionAttributes, quota: KubeObject, evaluator: Evaluator): void {
  const names = [...hardOf(quota).keys()].filter((name) => evaluator.counts(name));
  const missing = evaluator.missing?.(names, attributes.object!);
  const { name = "" } = quota.metadata;
  if (missing !== undefined) throw refusal(attributes, `failed quota: ${name}: ${missing}`);
  const used = usedOf(quota);
  if (names.every((one) => used.has(one))) return;
  throw refusal(attributes, `status unknown for quota: ${name}, resources: ${names.toSorted().join(",")}`);
}

function book(attributes: AdmissionAttributes, quota: KubeObject, delta: ResourceList): Booking | undefined {
  const hard = hardOf(quota);
  const request = new Map([...masked(delta, hard.keys())].filter(([, { nanos }]) => nanos !== 0n));
  if (request.size === 0) return undefined;
  const used = usedOf(quota);
  const next = add(new Map(used), request);
  const over = [...request.keys()].filter((name) => (next.get(name)?.nanos ?? 0n) > (hard.get(name)?.nanos ?? 0n));
  if (over.length > 0 && attributes.context.subresource !== "status") {
    const { name = "" } = quota.metadata;
    const parts = [
      `requested: ${listText(masked(request, over))}`,
      `used: ${listText(masked(used, over))}`,
      `limited: ${listText(masked(hard, over))}`,
    ];
    throw refusal(attributes, `exceeded quota: ${name}, ${parts.join(", ")}`);
  }
  return { quota, status: { ...inner(quota, "status"), used: listFields(next) } };
}
