/** Reports the deletion of a namespace in the conditions of its status. */
import type { NamespaceCondition } from "../../resource/builtin/index.ts";

/** The findings of one round of deletion. */
export interface Round {
  /** The number of remaining objects of each kind, such as `pods.` and `deployments.apps`. */
  readonly remaining: ReadonlyMap<string, number>;
  /** How many objects wait for each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  readonly errors: readonly string[];
}

const OK = [
  ["NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"],
  ["NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
  [
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  ["NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"],
  ["NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
] as const;

/** Returns the conditions after a round; `undefined` when they have not changed. @param now RFC 3339 */
export function conditionsAfter(
  before: readonly NamespaceCondition[],
  round: Round,
  now: string,
): NamespaceCondition[] | undefined {
  const byType = new Map(failures(round).map((failure) => [failure.type, failure]));
  let isChanged = false;
  const after = [...before];
  for (const [type, reason, message] of OK) {
    const next = byType.get(type) ?? { type, status: "False", reason, message };
    const index = before.findIndex((condition) => condition.type === type);
    const old = before[index];
    if (old?.status === next.status && old.reason === next.reason && old.message === next.message) continue;
    isChanged = true;
    const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : now;
    after.splice(index < 0 ? after.length : index, 1, { ...next, lastTransitionTime });
  }
  return isChanged ? after : undefined;
}

function failures({ remaining, finalizers, errors }: Round): Omit<NamespaceCondition, "lastTransitionTime">[] {
  const conditions: Omit<NamespaceCondition, "lastTransitionTime">[] = [];
  const add = (type: string, reason: string, message: string): void => {
    conditions.push({ type, status: "True", reason, message });
  };
  if (errors.length > 0) {
    const message = `Failed to delete all resource types, ${errors.length} remaining: ${errors.toSorted().join(", ")}`;
    add("NamespaceDeletionContentFailure", "ContentDeletionFailed", message);
  }
  if (remaining.size > 0) {
    const kinds = Array.from(remaining, ([kind, count]) => `${kind} has ${count} resource instances`);
    const message = `Some resources are remaining: ${kinds.toSorted().join(", ")}`;
    add("NamespaceContentRemaining", "SomeResourcesRemain", message);
  }
  if (finalizers.size > 0) {
    const names = Array.from(finalizers, ([name, count]) => `${name} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${names.toSorted().join(", ")}`;
    add("NamespaceFinalizersRemaining", "SomeFinalizersRemain", message);
  }
  return conditions;
}
