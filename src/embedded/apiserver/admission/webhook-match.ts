/** Whether a webhook is to be asked about a request. */
import type { AdmissionAttributes, Equivalents } from "../hooks.ts";
import { type Match, matchOf } from "./equivalent.ts";
import { isExempt, matchesSelectors } from "./rule-match.ts";
import type { Webhook } from "./webhook.ts";

/** As what the webhook is to be asked about the request; `undefined` when it is not to be. Its conditions are left out. */
export function webhookMatch(
  { rules = [], matchPolicy, ...webhook }: Webhook,
  attributes: AdmissionAttributes,
  equivalents: Equivalents,
): Match | undefined {
  if (isExempt(attributes.context.row)) return undefined;
  const match = matchOf(rules, attributes, { matchPolicy, equivalents });
  return match !== undefined && matchesSelectors(webhook, attributes) ? match : undefined;
}
