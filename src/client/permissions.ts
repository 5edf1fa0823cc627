/**
 * The declared permissions of a controller by kind: the source of RBAC rules and of warnings about undeclared calls.
 */
import { groupKind, type Resource } from "../resource/handle.ts";

/** The verbs that are permitted for one kind or one subresource of it. */
export interface Permission {
  readonly resource: Resource;
  readonly subresource: string | undefined;
  readonly verbs: ReadonlySet<string>;
  /** The namespaces; `undefined` for those that the process watches, "all" for every namespace. */
  readonly namespaces: readonly string[] | "all" | undefined;
  /** The names of the objects; `undefined` for all. */
  readonly names: readonly string[] | undefined;
}

interface GrowingPermission extends Permission {
  readonly verbs: Set<string>;
}

/** The restrictions of allowed verbs. */
export interface AllowOptions {
  readonly subresource?: string | undefined;
  readonly namespaces?: readonly string[] | "all" | undefined;
  readonly names?: readonly string[] | undefined;
}

export class Permissions {
  /** Permissions by kind, subresource, namespaces and names. */
  readonly #permitted = new Map<string, GrowingPermission>();
  /** The verbs by kind and subresource, in any namespace. */
  readonly #verbs = new Map<string, Set<string>>();

  allow(resource: Resource, verbs: readonly string[], options: AllowOptions = {}): void {
    const { subresource, namespaces, names } = options;
    const id = identity(resource, subresource);
    const where = `${id} ${namespaces?.toString() ?? ""} ${names?.toString() ?? ""}`;
    const permitted = this.#permitted.get(where) ?? { resource, subresource, namespaces, names, verbs: new Set() };
    const anywhere = this.#verbs.get(id) ?? new Set();
    for (const verb of verbs) {
      permitted.verbs.add(verb);
      anywhere.add(verb);
    }
    this.#permitted.set(where, permitted);
    this.#verbs.set(id, anywhere);
  }

  allows(resource: Resource, verb: string, subresource?: string): boolean {
    return this.#verbs.get(identity(resource, subresource))?.has(verb) === true;
  }

  [Symbol.iterator](): Iterator<Permission> {
    return this.#permitted.values();
  }
}

function identity(resource: Resource, subresource: string | undefined): string {
  return subresource === undefined ? groupKind(resource) : `${groupKind(resource)}/${subresource}`;
}
