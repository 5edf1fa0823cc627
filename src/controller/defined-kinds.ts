/** The kinds that the modules of this process export. They define these kinds in the cluster. */
import { groupKind, type Resource } from "../resource/handle.ts";

export class DefinedKinds {
  /** The number of modules that export each kind. */
  readonly #modules = new Map<string, number>();

  has(resource: Resource): boolean {
    return this.#modules.has(groupKind(resource));
  }

  /** Claims kinds for a module until the result is disposed. */
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
