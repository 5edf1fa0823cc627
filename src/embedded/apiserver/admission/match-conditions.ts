/** `matchConditions` of webhooks: expressions that all must hold. */
import type { AdmissionAttributes } from "../hooks.ts";
import { CallError } from "./call-error.ts";
import { conditionsOf, PolicyProblem } from "./policies/matching.ts";
import type { Webhook } from "./webhook.ts";

/** @throws CallError when an expression fails and none is false */
export function conditionsHold(webhook: Webhook, attributes: AdmissionAttributes): boolean {
  try {
    return conditionsOf(webhook, attributes, undefined);
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    throw new CallError(webhook.name, error.message, { isCondition: true });
  }
}
