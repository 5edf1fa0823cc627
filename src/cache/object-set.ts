/** The set of objects that an informer holds: a kind, restricted by namespaces, labels and fields, and what is kept of each object. */
import { parseFieldSelector, type FieldSelector } from "../resource/field-selector.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { parseLabelSelector, type LabelSelector } from "../resource/selector.ts";
import { KeptPaths } from "./kept-paths.ts";

export interface ObjectSetOptions {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceLabels?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly keep?: readonly string[] | undefined;
  /** A part of them, where replicas divide them. */
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
