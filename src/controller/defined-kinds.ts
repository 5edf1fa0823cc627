/** The kinds that the modules of this process export: their definitions are the cluster's. */
import { groupKind, type Resource } from "../resource/handle.ts";

export class DefinedKinds {
  /** By how many modules. */
  readonly #modules = new Map<string, number>();

  has(resource: Resource): boolean {
    return this.#modules.has(groupKind(resource));
  }

  /** The kinds are a module's until this is disposed of. */
  claim(resources: readonly Resource[]): Disposable {
    const kinds = new Set(resources.map(groupKind));
    for (const kind of kinds) this.#modules.set(kind, (this.#modules.get(kind) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        for (const kind of kinds) {
          const left = this.#modules.get(kind)! - 1;
          if (left > 0) this.#modules.set(kind, left);
          else this.#modules.delete(kind);
        }
      },
    };
  }
}
