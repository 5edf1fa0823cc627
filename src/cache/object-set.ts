/**
 * The set of objects that an informer holds: a kind, restricted by namespaces, labels and fields, and the paths that
 * are kept of each object.
 */
import { type FieldSelector, parseFieldSelector } from "../resource/field-selector.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { type LabelSelector, parseLabelSelector } from "../resource/selector.ts";

export interface ObjectSetOptions {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceLabels?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly keep?: readonly string[] | undefined;
  /** The portion of the objects that is kept, when replicas divide them. */
  readonly portion?: { readonly id: string } | undefined;
}

export class ObjectSet {
  /** Sorted; empty for all namespaces, and when namespaces are selected by labels. */
  readonly namespaces: readonly string[];
  readonly namespaceLabels: string | undefined;
  readonly labels: string | undefined;
  readonly fields: string | undefined;
  readonly keep: KeptPaths | undefined;
  /** Unique for each kind, version, set of namespaces, selectors and kept paths. */
  readonly id: string;
  /** The part of `id` that distinguishes informers of one kind, such as `a,b;app=web`; empty for all objects. */
  readonly selector: string;
  readonly #labels: LabelSelector | undefined;
  readonly #fields: FieldSelector | undefined;

  constructor({ apiVersion, kind }: Resource, options: ObjectSetOptions) {
    const { namespaces = [], namespaceLabels, labels, fields, keep, portion } = options;
    this.namespaceLabels = namespaceLabels;
    this.namespaces = namespaceLabels === undefined ? [...new Set(namespaces)].sort() : [];
    this.labels = labels || undefined;
    this.fields = fields || undefined;
    this.keep = keep === undefined ? undefined : new KeptPaths(keep);
    this.#labels = this.labels === undefined ? undefined : parseLabelSelector(this.labels);
    this.#fields = this.fields === undefined ? undefined : parseFieldSelector(this.fields);
    const where = namespaceLabels === undefined ? this.namespaces.join(",") : `{${namespaceLabels}}`;
    this.selector = [where, this.labels ?? "", this.fields ?? "", portion === undefined ? "" : `shardBy=${portion.id}`]
      .join(";")
      .replace(/(?<!;);+$/, "");
    const kept = this.keep === undefined ? "" : `#${this.keep.text}`;
    this.id = `${apiVersion}/${kind}${this.selector && `?${this.selector}`}${kept}`;
  }

  /** Whether the selectors match an object, whatever its namespace. */
  selects(object: AnyObject): boolean {
    if (this.#labels !== undefined && !this.#labels.matches(object.metadata.labels)) return false;
    return this.#fields === undefined || this.#fields.matches(object);
  }
}

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
        const branch: Tree = new Map();
        tree.set(field, branch);
        tree = branch;
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
    const content = (value as Value)[field];
    const taken = inner === undefined ? content : pick(content, inner);
    if (taken !== undefined) kept[field] = taken;
  }
  return kept;
}
