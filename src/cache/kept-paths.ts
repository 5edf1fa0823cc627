/** Keeps chosen fields of each object, by path; the rest is dropped before the object is stored. */
import type { AnyObject } from "../resource/handle.ts";

type Tree = Map<string, Tree | undefined>;
type Value = Readonly<Record<string, unknown>>;

/** Paths such as `spec.nodeName`, in which an array stands for each of its elements: `spec.containers.image`. */
export class KeptPaths {
  /** The paths, sorted and without duplicates; equal sets have equal texts. */
  readonly text: string;
  readonly #tree: Tree = new Map();

  constructor(paths: readonly string[]) {
    const sorted = [...new Set(paths)].sort();
    this.text = sorted.join(",");
    for (const path of sorted) this.#add(path.split("."));
  }

  /** Whether only metadata is kept, so that the server need not send more. */
  get isMetadataOnly(): boolean {
    return this.#tree.size === 0;
  }

  /** Makes a reduced copy; what it shares with the given object is never changed. */
  take(object: AnyObject): AnyObject {
    const { apiVersion, kind } = object;
    const { managedFields: _dropped, ...metadata } = object.metadata;
    const kept = pick(object, this.#tree) as object;
    return { apiVersion, kind, ...kept, metadata };
  }

  #add(fields: readonly string[]): void {
    let tree = this.#tree;
    for (const [index, field] of fields.entries()) {
      const inner = tree.get(field);
      if (tree.has(field) && inner === undefined) return; // all of it is kept already
      if (index === fields.length - 1) tree.set(field, undefined);
      else if (inner !== undefined) tree = inner;
      else {
        const made: Tree = new Map();
        tree.set(field, made);
        tree = made;
      }
    }
  }
}

function pick(value: unknown, tree: Tree): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return value.map((element: unknown) => pick(element, tree));
  const kept: Record<string, unknown> = {};
  for (const [field, inner] of tree) {
    if (!Object.hasOwn(value, field)) continue;
    const found = (value as Value)[field];
    const taken = inner === undefined ? found : pick(found, inner);
    if (taken !== undefined) kept[field] = taken;
  }
  return kept;
}
