/** What a controller declared that it does, by kind: the source of RBAC rules and of warnings about other calls. */
import { groupKind, type Resource } from "../resource/handle.ts";

/** What may be done with one kind or one subresource of it. */
export interface PermittedVerbs {
  readonly resource: Resource;
  readonly subresource: string | undefined;
  readonly verbs: ReadonlySet<string>;
}

export class Permissions {
  readonly #permitted = new Map<string, { resource: Resource; subresource: string | undefined; verbs: Set<string> }>();

  allow(resource: Resource, verbs: readonly string[], subresource?: string): void {
    const id = identity(resource, subresource);
    const permitted = this.#permitted.get(id);
    if (permitted === undefined) this.#permitted.set(id, { resource, subresource, verbs: new Set(verbs) });
    else for (const verb of verbs) permitted.verbs.add(verb);
  }

  allows(resource: Resource, verb: string, subresource?: string): boolean {
    return this.#permitted.get(identity(resource, subresource))?.verbs.has(verb) === true;
  }

  [Symbol.iterator](): Iterator<PermittedVerbs> {
    return this.#permitted.values();
  }
}

function identity(resource: Resource, subresource: string | undefined): string {
  return subresource === undefined ? groupKind(resource) : `${groupKind(resource)}/${subresource}`;
}
