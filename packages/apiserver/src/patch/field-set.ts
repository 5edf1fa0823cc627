/** Sets of paths, which managers own. A set that is shared never changes. */
import { getOrInsert } from "../get-or-insert.ts";
import { compareElements, isField, printElement } from "./path-element.ts";

/** The form `FieldsV1` of managedFields. */
export type FieldsV1 = { readonly [element: string]: FieldsV1 };

/** Knows which steps of a path are fields of a struct; see `FieldSet.withNamedFields`. */
export interface Named {
  hasField(element: string): boolean;
  at(element: string): Named | undefined;
}

export class FieldSet {
  readonly members: Set<string> = new Set();
  /** Sets of paths below each step; none of these sets is empty. */
  readonly children: Map<string, FieldSet> = new Map();

  get empty(): boolean {
    return this.members.size === 0 && this.children.size === 0;
  }

  /** Adds a path. It changes this set, so it is only for sets that are being built. */
  insert([first, ...rest]: readonly string[]): void {
    if (first === undefined) return;
    if (rest.length === 0) this.members.add(first);
    else getOrInsert(this.children, first, create).insert(rest);
  }

  has(element: string): boolean {
    return this.members.has(element);
  }

  /** Returns the paths that begin with `element`, without it. */
  within(element: string): FieldSet | undefined {
    return this.children.get(element);
  }

  union(other: FieldSet): FieldSet {
    if (other.empty) return this;
    if (this.empty) return other;
    const result = new FieldSet();
    for (const element of this.members) result.members.add(element);
    for (const element of other.members) result.members.add(element);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      result.children.set(element, theirs ? child.union(theirs) : child);
    }
    for (const [element, child] of other.children) {
      if (!this.children.has(element)) result.children.set(element, child);
    }
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const element of this.members) if (other.members.has(element)) result.members.add(element);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (theirs) result.#put(element, child.intersection(theirs));
    }
    return result;
  }

  /** Returns the paths that only this set has; paths below a member of `other` stay. */
  difference(other: FieldSet): FieldSet {
    if (other.empty) return this;
    const result = new FieldSet();
    for (const element of this.members) if (!other.members.has(element)) result.members.add(element);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      result.#put(element, theirs ? child.difference(theirs) : child);
    }
    return result;
  }

  /** Returns the paths that only this set has; a member of `other` also removes the paths below it. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.empty) return this;
    const result = new FieldSet();
    for (const element of this.members) if (!other.members.has(element)) result.members.add(element);
    for (const [element, child] of this.children) {
      if (other.members.has(element)) continue;
      const theirs = other.children.get(element);
      result.#put(element, theirs ? child.recursiveDifference(theirs) : child);
    }
    return result;
  }

  /** Adds the fields of structs on the way to the members: `a.b.c` adds `a` and `a.b`, unless they are maps. */
  withNamedFields(named: Named | undefined): FieldSet {
    const result = new FieldSet();
    for (const element of this.members) result.members.add(element);
    for (const [element, child] of this.children) {
      if (isField(element) && named?.hasField(element)) result.members.add(element);
      result.children.set(element, child.withNamedFields(named?.at(element)));
    }
    return result;
  }

  /** Yields every path as conflicts print it: members first, then the paths inside them. */
  *printed(prefix = ""): Generator<string> {
    for (const element of [...this.members].toSorted(compareElements)) yield prefix + printElement(element);
    for (const element of [...this.children.keys()].toSorted(compareElements)) {
      yield* this.children.get(element)!.printed(prefix + printElement(element));
    }
  }

  toFieldsV1(): FieldsV1 {
    const elements = new Set([...this.members, ...this.children.keys()]);
    const fields: Record<string, FieldsV1> = {};
    for (const element of [...elements].toSorted(compareElements)) {
      const child = this.children.get(element);
      if (!child) fields[element] = {};
      else fields[element] = this.members.has(element) ? { ".": {}, ...child.toFieldsV1() } : child.toFieldsV1();
    }
    return fields;
  }

  static of(paths: readonly (readonly string[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  static fromFieldsV1(fields: FieldsV1): FieldSet {
    const set = new FieldSet();
    for (const [element, child] of Object.entries(fields)) {
      if (!/^[fkvi]:/.test(element)) continue;
      const inner = FieldSet.fromFieldsV1(child);
      if (inner.empty || Object.hasOwn(child, ".")) set.members.add(element);
      set.#put(element, inner);
    }
    return set;
  }

  #put(element: string, child: FieldSet): void {
    if (!child.empty) this.children.set(element, child);
  }
}

function create(): FieldSet {
  return new FieldSet();
}
