/** Merges one object over another as server-side apply does, but without owners of fields. */
import type { KubeObject } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import { type Atom, atomOf, shapeOf } from "./atom.ts";
import { mergeTyped } from "./typed-merge.ts";
import { typeErrors } from "./typed-validate.ts";
import { asList, asMap } from "./typed-values.ts";

/**
 * Merges the objects. @throws Error when the upper one does not fit the schema, or would replace something that
 * cannot be merged
 */
export function layOver(schema: Schema, object: KubeObject, over: KubeObject): KubeObject {
  const atom = atomOf(schema);
  const wrong = typeErrors(over, atom);
  if (wrong !== undefined) {
    throw new Error(`error applying patch: failed to convert patch object to typed object: ${wrong}`);
  }
  const whole = atomics(over, atom, "");
  if (whole.length > 0) {
    const why = `may not mutate atomic arrays, maps or structs: ${whole.join(", ")}`;
    throw new Error(`error applying patch: invalid ApplyConfiguration: ${why}`);
  }
  return mergeTyped(object, over, atom) as KubeObject;
}

/** Returns the paths that could only be replaced as a whole. */
function atomics(value: unknown, atom: Atom, path: string): string[] {
  const shape = shapeOf(atom, value);
  if (shape === "map" && asMap(value) !== undefined) {
    const map = atom.map!;
    const inside = Object.entries(asMap(value) ?? {}).flatMap(([name, field]) => {
      const type = map.typeOf(name);
      return type === undefined ? [] : atomics(field, type, `${path}.${name}`);
    });
    return [...(map.atomic ? [path] : []), ...inside];
  }
  if (shape === "list" && asList(value) !== undefined) {
    const list = atom.list!;
    const inside = (asList(value) ?? []).flatMap((item, index) => atomics(item, list.element, `${path}[${index}]`));
    return [...(list.associative ? [] : [path]), ...inside];
  }
  return [];
}
