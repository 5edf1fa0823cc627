/** Indexes that authors define, and the queries that use them. */
import type { IndexFunction } from "../cache/store.ts";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";

declare const indexed: unique symbol;

/** A query: the objects that an index has under one value. */
export interface IndexQuery<out S extends Shape> {
  readonly [indexed]: S;
}

/** An index of a kind: finds objects by a value computed from them. */
export interface Index<out S extends Shape> {
  readonly name: string;
  is(value: string): IndexQuery<S>;
}

/** The form of an {@link IndexQuery} at run time. */
export interface IndexedBy {
  /** Identifies the index: two indexes with the same name have different ids. */
  readonly id: string;
  readonly of: IndexFunction;
  readonly value: string;
}

/** The definition behind an {@link Index}. */
export interface DefinedIndex {
  readonly resource: Resource;
  readonly id: string;
  readonly of: IndexFunction;
}

let defined = 0;
const indexes = new WeakMap<object, DefinedIndex>();

/** Returns the definition of an index; `undefined` for anything else. */
export function definedIndex(index: unknown): DefinedIndex | undefined {
  return typeof index === "object" && index !== null ? indexes.get(index) : undefined;
}

/**
 * Defines an index for `client.list`. The cache keeps it from its first use on; when a list goes to the server, its
 * response is filtered.
 *
 * @example
 * const byNode = defineIndex(Pod, "nodeName", (pod) => pod.spec.nodeName);
 * const pods = await client.list(Pod, { index: byNode.is("node-1") });
 */
export function defineIndex<S extends Shape>(
  resource: Resource<S>,
  name: string,
  of: (object: S["read"]) => string | readonly string[] | undefined,
): Index<S> {
  const id = `${resource.kind}/${name}#${++defined}`;
  const index = {
    name,
    is: (value: string) => ({ id, of: of, value }) satisfies IndexedBy as unknown as IndexQuery<S>,
  };
  indexes.set(index, { resource, id, of });
  return Object.freeze(index);
}

export function indexedBy(query: IndexQuery<Shape> | undefined): IndexedBy | undefined {
  return query as unknown as IndexedBy | undefined;
}

/** Whether the index files the object under the value of the query. */
export function isIndexed(query: IndexedBy, object: AnyObject): boolean {
  const values = query.of(object);
  return typeof values === "string" ? values === query.value : values !== undefined && values.includes(query.value);
}
