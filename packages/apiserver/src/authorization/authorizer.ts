/**
 * Authorizes requests by Roles, ClusterRoles and their bindings. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
import { goQuoted } from "../field-error.ts";
import type { Attributes, Authorizer, Decision, PolicyRule, RoleReference, UserInfo, UserRules } from "../hooks.ts";
import type { Collection } from "../storage/collection.ts";
import type { Storage } from "../storage/storage.ts";
import type { StoreEvent } from "../storage/stored.ts";
import { type Binding, Bindings, describeBinding } from "./bindings.ts";
import { permits } from "./rules.ts";

/** The rules of a role, and the binding that grants them. */
interface Grant {
  readonly binding: Binding;
  readonly rules: readonly PolicyRule[];
}

interface Grants {
  readonly grants: readonly Grant[];
  readonly missing: readonly RoleReference[];
}

const group = "rbac.authorization.k8s.io";

/** Members of this group may do everything, regardless of bindings. */
export const superusers = "system:masters";

const allowed: Decision = { allowed: true, reason: "" };
const denied: Decision = { allowed: false, reason: "" };

/** For how many users grants are remembered. */
const mostUsers = 1000;
/**
 * The longest user name and groups, in characters, whose grants are cached. Access reviews may ask for any user, so
 * longer ones are looked up each time.
 */
const longestUser = 4096;
const nothing: Grants = { grants: [], missing: [] };

export class RbacAuthorizer implements Authorizer {
  readonly #collections: Readonly<
    Record<"roles" | "clusterroles" | "rolebindings" | "clusterrolebindings", Collection>
  >;
  readonly #cluster = new Bindings();
  readonly #namespaces = new Map<string, Bindings>();
  /** The grants by user and namespace; any change of roles or bindings clears them. */
  readonly #known = new Map<string, Map<string, Grants>>();
  #isLoaded = false;

  constructor(storage: Storage) {
    const of = (plural: string): Collection => storage.collection(`${group}/${plural}`);
    this.#collections = {
      roles: of("roles"),
      clusterroles: of("clusterroles"),
      rolebindings: of("rolebindings"),
      clusterrolebindings: of("clusterrolebindings"),
    };
    const { roles, clusterroles, rolebindings, clusterrolebindings } = this.#collections;
    for (const collection of [roles, clusterroles]) collection.listen(() => this.#known.clear());
    for (const collection of [rolebindings, clusterrolebindings]) {
      collection.listen((event) => {
        if (this.#isLoaded) this.#follow(event);
      });
    }
  }

  authorize(attributes: Attributes): Decision {
    const { user, namespace } = attributes;
    if (user.groups.includes(superusers)) return allowed;
    const everywhere = this.#grants(user, "");
    const inNamespace = namespace === "" ? undefined : this.#grants(user, namespace);
    for (const { grants } of inNamespace === undefined ? [everywhere] : [everywhere, inNamespace]) {
      for (const { binding, rules } of grants) {
        if (!rules.some((rule) => permits(rule, attributes))) continue;
        return { allowed: true, reason: `RBAC: allowed by ${describeBinding(binding, user)}` };
      }
    }
    const missing = [...everywhere.missing, ...(inNamespace?.missing ?? [])];
    return missing.length === 0 ? denied : { allowed: false, reason: `RBAC: ${missingRoles(missing)}` };
  }

  rulesFor(user: UserInfo, namespace: string): UserRules {
    const all = namespace === "" ? [""] : ["", namespace];
    const decisions = all.map((one) => this.#grants(user, one));
    return {
      rules: decisions.flatMap(({ grants }) => grants.flatMap(({ rules }) => rules)),
      missing: decisions.flatMap(({ missing }) => missing),
    };
  }

  roleRules({ kind, name }: RoleReference, namespace: string): readonly PolicyRule[] | undefined {
    const { roles, clusterroles } = this.#collections;
    const stored = kind === "Role" ? roles.get(`${namespace}/${name}`) : clusterroles.get(name);
    return stored && ((stored.object["rules"] ?? []) as readonly PolicyRule[]);
  }

  /** Collects the grants of a user. @param namespace `""` for ClusterRoleBindings */
  #grants(user: UserInfo, namespace: string): Grants {
    this.#load();
    const bindings = namespace === "" ? this.#cluster : this.#namespaces.get(namespace);
    // Requests may name namespaces that do not exist, so namespaces without bindings are not remembered.
    if (bindings === undefined) return nothing;
    const id = JSON.stringify([user.username, user.groups]); // names may hold any separator
    if (id.length > longestUser) return this.#resolve(user, { namespace, bindings });
    let ofUser = this.#known.get(id);
    if (ofUser === undefined) {
      if (this.#known.size >= mostUsers) this.#known.clear();
      this.#known.set(id, (ofUser = new Map()));
    }
    let grants = ofUser.get(namespace);
    if (grants === undefined) ofUser.set(namespace, (grants = this.#resolve(user, { namespace, bindings })));
    return grants;
  }

  #resolve(
    user: UserInfo,
    { namespace, bindings }: { readonly namespace: string; readonly bindings: Bindings },
  ): Grants {
    const grants: Grant[] = [];
    const missing: RoleReference[] = [];
    for (const binding of bindings.of(user)) {
      const rules = this.roleRules(binding.roleRef, namespace);
      if (rules === undefined) missing.push(binding.roleRef);
      else grants.push({ binding, rules });
    }
    return { grants, missing };
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    const { rolebindings, clusterrolebindings } = this.#collections;
    for (const { object } of [...clusterrolebindings.all(), ...rolebindings.all()])
      this.#of(object).put(object as Binding);
  }

  #follow({ type, stored: { object } }: StoreEvent): void {
    this.#known.clear();
    if (type === "DELETED") this.#of(object).remove(object.metadata.name ?? "");
    else this.#of(object).put(object as Binding);
  }

  #of({ metadata: { namespace } }: Pick<Binding, "metadata">): Bindings {
    if (namespace === undefined) return this.#cluster;
    let bindings = this.#namespaces.get(namespace);
    if (bindings === undefined) this.#namespaces.set(namespace, (bindings = new Bindings()));
    return bindings;
  }
}

/**
 * Returns the server's message about missing roles, each once.
 *
 * @param resource the resource's name in the message. @default their kind in lower case
 */
export function missingRoles(missing: readonly RoleReference[], resource?: string): string {
  const texts = missing.map(
    ({ kind, name }) => `${resource ?? kind.toLowerCase()}.${group} ${goQuoted(name)} not found`,
  );
  const once = [...new Set(texts)];
  return once.length > 1 ? `[${once.join(", ")}]` : (once[0] ?? "");
}
