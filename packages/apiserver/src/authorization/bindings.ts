/** Indexes bindings by their subjects, so that only a user's own bindings are examined. */
import { goQuoted } from "../field-error.ts";
import type { KubeObject, RoleReference, UserInfo } from "../hooks.ts";

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** A ClusterRoleBinding or a RoleBinding. */
export interface Binding extends KubeObject {
  readonly roleRef: RoleReference;
  readonly subjects?: readonly Subject[] | null;
}

/** The bindings of one namespace, or the ClusterRoleBindings. */
export class Bindings {
  readonly #byName = new Map<string, Binding>();
  readonly #bySubject = new Map<string, Set<Binding>>();

  put(binding: Binding): void {
    const { name = "" } = binding.metadata;
    this.remove(name);
    this.#byName.set(name, binding);
    for (const subject of subjectsOf(binding)) {
      const known = this.#bySubject.get(subject);
      if (known === undefined) this.#bySubject.set(subject, new Set([binding]));
      else known.add(binding);
    }
  }

  remove(name: string): void {
    const binding = this.#byName.get(name);
    if (binding === undefined) return;
    this.#byName.delete(name);
    for (const subject of subjectsOf(binding)) {
      const known = this.#bySubject.get(subject);
      known?.delete(binding);
      if (known?.size === 0) this.#bySubject.delete(subject);
    }
  }

  /** Returns the bindings of the user and of its groups, ordered by name. */
  of({ username, groups }: UserInfo): readonly Binding[] {
    const bindings = new Set(this.#bySubject.get(`User ${username}`));
    for (const group of groups) for (const one of this.#bySubject.get(`Group ${group}`) ?? []) bindings.add(one);
    return [...bindings].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  }
}

function subjectsOf(binding: Binding): readonly string[] {
  return (binding.subjects ?? []).flatMap((subject) => {
    if (subject.kind === "User" || subject.kind === "Group") return `${subject.kind} ${subject.name}`;
    const username = accountOf(subject, binding);
    return username === undefined ? [] : `User ${username}`;
  });
}

/** Returns the user name of a service account; without a namespace it belongs to the namespace of the binding. */
function accountOf({ kind, name, namespace }: Subject, { metadata }: Binding): string | undefined {
  const inNamespace = namespace || metadata.namespace;
  return kind === "ServiceAccount" && inNamespace ? `system:serviceaccount:${inNamespace}:${name}` : undefined;
}

/** Describes why a binding applies to a user, for the reason of an access review. */
export function describeBinding(binding: Binding, { username, groups }: UserInfo): string {
  const { kind, metadata, roleRef, subjects } = binding;
  const { name = "", namespace } = metadata;
  const subject = subjects?.find((one) => {
    if (one.kind === "User") return one.name === username;
    if (one.kind === "Group") return groups.includes(one.name);
    return accountOf(one, binding) === username;
  });
  const of = namespace === undefined ? name : `${name}/${namespace}`;
  const to = subject === undefined ? "" : describeSubject(subject, namespace ?? "");
  return `${kind} ${goQuoted(of)} of ${roleRef.kind} ${goQuoted(roleRef.name)} to ${to}`;
}

function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return `${kind} ${goQuoted(kind === "ServiceAccount" ? `${name}/${namespace || bindingNamespace}` : name)}`;
}
