/** Handles dependents that describe the same owner UID differently; at most one description is right. */
import { idOf, type Identity, isSame, matches, type Node, ownerIdentity } from "./node.ts";

/** Splits dependents by whether they mean the object; one with two references may be in both lists. */
export function splitByIdentity(
  dependents: Iterable<Node>,
  identity: Identity,
): { readonly matching: readonly Node[]; readonly others: readonly Node[] } {
  const matching: Node[] = [];
  const others: Node[] = [];
  for (const dependent of dependents) {
    if (identity.namespace !== undefined && dependent.identity.namespace !== identity.namespace) {
      others.push(dependent);
      continue;
    }
    const references = dependent.owners.filter(({ uid }) => uid === identity.uid);
    if (references.some((reference) => matches(reference, identity))) matching.push(dependent);
    if (references.some((reference) => !matches(reference, identity))) others.push(dependent);
  }
  return { matching, others };
}

/** Returns another description of an absent owner: the next one after `absent` in order, otherwise the first. */
export function alternateIdentity(dependents: readonly Node[], absent: Identity): Identity | undefined {
  const alternates: Identity[] = [];
  for (const { owners, identity } of dependents) {
    for (const reference of owners) {
      if (reference.uid !== absent.uid) continue;
      const isSameKind = reference.apiVersion === absent.apiVersion && reference.kind === absent.kind;
      const isClusterScoped = absent.namespace === undefined && isSameKind;
      const alternate = ownerIdentity(reference, isClusterScoped ? undefined : identity.namespace);
      if (!isSame(alternate, absent)) alternates.push(alternate);
    }
  }
  alternates.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return alternates.find((alternate) => rank(alternate) > rank(absent)) ?? alternates[0];
}

function rank(identity: Identity): string {
  return `${identity.kind} ${idOf(identity)}`;
}
