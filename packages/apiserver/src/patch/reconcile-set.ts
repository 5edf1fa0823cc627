/** Adapts sets from a time when parts of a field could be owned to a schema in which the field is owned as a whole. */
import type { Atom } from "./atom.ts";
import { FieldSet } from "./field-set.ts";

/** Returns the adapted set; the same one when nothing changes. */
export function reconcileWithSchema(set: FieldSet, atom: Atom): FieldSet {
  const whole: string[][] = [];
  visit(set, { atom, isWhole: false, path: [], whole });
  if (whole.length === 0) return set;
  const changed = FieldSet.of(whole);
  return set.recursiveDifference(changed).union(changed);
}

interface Place {
  readonly atom: Atom;
  /** Whether the value itself is a member and nothing inside it is. */
  readonly isWhole: boolean;
  readonly path: readonly string[];
  readonly whole: string[][];
}

function visit(set: FieldSet | undefined, { atom, isWhole, path, whole }: Place): void {
  if (atom.map) {
    if (atom.map.deduced) return;
    if (!isWhole && atom.map.atomic) {
      if (set && !set.empty) whole.push([...path]);
      return;
    }
  } else if (atom.scalar) return;
  else if (!isWhole && !atom.list!.associative) {
    whole.push([...path]);
    return;
  }
  if (!set) return;
  for (const element of new Set([...set.children.keys(), ...set.members])) {
    const inner = set.children.get(element);
    const type = atom.map ? atom.map.typeOf(element.slice(2)) : atom.list!.element;
    if (!type) continue;
    visit(inner, { atom: type, isWhole: inner === undefined, path: [...path, element], whole });
  }
}
