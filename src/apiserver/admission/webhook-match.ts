/** Whether a webhook is to be asked about a request. */
import type { AdmissionAttributes, WriteContext } from "../hooks.ts";
import { conditionsHold } from "./match-conditions.ts";
import { isExempt, matchesSelectors, ruleMatches } from "./rule-match.ts";
import type { Webhook } from "./webhook.ts";

/**
 * The version in which the webhook wants the object; `undefined` when it is not to be asked.
 *
 * @throws CallError when a match condition fails
 */
export function wantedVersion(webhook: Webhook, attributes: AdmissionAttributes): string | undefined {
  const { row } = attributes.context;
  if (isExempt(row)) return undefined;
  const version = versionOf(webhook, attributes.context);
  if (version === undefined || !matchesSelectors(webhook, attributes)) return undefined;
  const conditions = webhook.matchConditions ?? [];
  return conditions.length === 0 || conditionsHold(webhook, attributes) ? version : undefined;
}

function versionOf({ rules = [], matchPolicy }: Webhook, context: WriteContext): string | undefined {
  const { row } = context;
  if (rules.some((rule) => ruleMatches(rule, context, row.version))) return row.version;
  // Versions of a custom resource differ in nothing but what its converter changes.
  if (matchPolicy === "Exact" || !row.custom) return undefined;
  return rules
    .flatMap(({ apiVersions = [] }) => apiVersions)
    .find((version) => rules.some((rule) => ruleMatches(rule, context, version)));
}
