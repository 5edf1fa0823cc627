/**
 * Fills ClusterRoles that aggregate the rules of others by label, as kube-controller-manager does. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */
import { deepEquals } from "#platform/equality";
import { selects } from "../request/label-selector.ts";
import type { KubeObject, PolicyRule } from "../hooks.ts";
import { type OwnWriter, writeApplied } from "./own-writes.ts";

export const aggregator = "clusterrole-aggregation-controller";
const group = "rbac.authorization.k8s.io";

/** Returns the rules that a role aggregates, each once, in the order of the roles' names; `undefined` when it aggregates none. */
export function aggregatedRules(role: KubeObject, roles: readonly KubeObject[]): readonly PolicyRule[] | undefined {
  const rule = role["aggregationRule"] as { readonly clusterRoleSelectors?: readonly object[] } | undefined;
  if (!rule) return undefined;
  const rules: PolicyRule[] = [];
  for (const selector of rule.clusterRoleSelectors ?? []) {
    const isSelected = selects(selector);
    for (const { metadata, ...other } of roles) {
      if (metadata.name === role.metadata.name || !isSelected(metadata.labels)) continue;
      for (const one of (other["rules"] ?? []) as readonly PolicyRule[]) {
        if (!rules.some((known) => deepEquals(known, one))) rules.push(one);
      }
    }
  }
  return rules;
}

/** Updates aggregating roles shortly after a role changed. @returns a function that ends it. */
export function followAggregation(writer: OwnWriter): () => void {
  const collection = writer.storage.collection(`${group}/clusterroles`);
  let isDue = false;
  return collection.listen(() => {
    if (isDue) return;
    isDue = true;
    // This runs after the response to the writer, once for all writes of this turn of the event loop.
    setImmediate(() => {
      isDue = false;
      const roles = collection.all().map(({ object }) => object);
      for (const role of roles) fill(role, aggregatedRules(role, roles), writer);
    });
  });
}

function fill(role: KubeObject, rules: readonly PolicyRule[] | undefined, writer: OwnWriter): void {
  if (rules === undefined || deepEquals(rules, role["rules"] ?? []) || role.metadata.deletionTimestamp !== undefined)
    return;
  const resource = { group, plural: "clusterroles" };
  writeApplied(writer, resource, { live: role, fields: { rules }, manager: aggregator, subresource: "" });
}
