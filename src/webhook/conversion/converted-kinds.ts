/** Finds the module that converts the objects of a kind. */
import { needsConversion } from "../../resource/crd-conversion.ts";
import { definitionOf } from "../../resource/definition.ts";
import { groupKind, type Resource } from "../../resource/handle.ts";
import type { ConvertibleKind } from "./conversion-review.ts";

/** The parts of a module that conversions need. */
export interface ConvertingModule {
  readonly resources: readonly Resource[];
  readonly invoke: <T>(call: () => T) => T;
}

/** The kinds of modules that are loaded or about to be; of several modules with a kind the first converts. */
export class ConvertedKinds {
  #loaded: ReadonlyMap<string, ConvertibleKind> = new Map();
  readonly #early = new Set<ReadonlyMap<string, ConvertibleKind>>();

  /** Sets the loaded modules. */
  set(modules: readonly ConvertingModule[]): void {
    this.#loaded = kindsOf(modules);
  }

  /** Lets a module that is about to be loaded convert its kinds from now on, in place of any other. */
  lend(module: ConvertingModule): Disposable {
    const kinds = kindsOf([module]);
    this.#early.add(kinds);
    return { [Symbol.dispose]: () => void this.#early.delete(kinds) };
  }

  get isEmpty(): boolean {
    return this.#loaded.size === 0 && [...this.#early].every(({ size }) => size === 0);
  }

  find(group: string, kind: string): ConvertibleKind | undefined {
    const key = groupKind({ group, kind });
    for (const kinds of this.#early) {
      const match = kinds.get(key);
      if (match !== undefined) return match;
    }
    return this.#loaded.get(key);
  }
}

function kindsOf(modules: readonly ConvertingModule[]): ReadonlyMap<string, ConvertibleKind> {
  const kinds = new Map<string, ConvertibleKind>();
  for (const { resources, invoke } of modules) {
    for (const resource of resources.filter(needsConversion)) {
      if (kinds.has(groupKind(resource))) continue;
      kinds.set(groupKind(resource), { definition: definitionOf(resource)!, invoke });
    }
  }
  return kinds;
}
