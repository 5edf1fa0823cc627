/** Values on the wire, and what is done with them. */

export type Json = null | boolean | number | string | Json[] | JsonMap;
export interface JsonMap {
  [key: string]: Json;
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function equal(a: Json | undefined, b: Json | undefined): boolean {
  return Bun.deepEquals(a, b, true);
}

export function clone<T extends Json>(value: T): T {
  return structuredClone(value);
}

/** A map in a map; an empty one that is in nothing where there is none. */
export function mapAt(value: Json | undefined, ...path: readonly string[]): JsonMap {
  let at = value;
  for (const name of path) at = isMap(at) ? at[name] : undefined;
  return isMap(at) ? at : {};
}

export const metaOf = (object: JsonMap): JsonMap => mapAt(object, "metadata");
export const annotationsOf = (object: JsonMap): JsonMap => mapAt(object, "metadata", "annotations");

/** Puts one part of an object over another: maps are merged, lists of named items by their names, all else is replaced. */
export function over(base: Json | undefined, part: Json): Json {
  if (isMap(base) && isMap(part)) {
    const merged: JsonMap = { ...base };
    for (const [key, value] of Object.entries(part)) merged[key] = over(base[key], value);
    return merged;
  }
  if (
    Array.isArray(base) &&
    Array.isArray(part) &&
    base.length > 0 &&
    part.length > 0 &&
    [...base, ...part].every(isNamed)
  ) {
    const merged = [...base] as JsonMap[];
    for (const item of part as JsonMap[]) {
      const at = merged.findIndex(({ name }) => name === item["name"]);
      if (at < 0) merged.push(item);
      else merged[at] = over(merged[at], item) as JsonMap;
    }
    return merged;
  }
  return clone(part);
}

function isNamed(item: Json): boolean {
  return isMap(item) && typeof item["name"] === "string";
}

/** The JSON merge patch that leads from one value to another. */
export function mergePatch(from: JsonMap, to: JsonMap): JsonMap {
  const patch: JsonMap = {};
  for (const key of Object.keys(from)) if (to[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    const old = from[key];
    if (equal(old, value)) continue;
    patch[key] = isMap(old) && isMap(value) ? mergePatch(old, value) : value;
  }
  return patch;
}

const escaped = (segment: string): string => segment.replaceAll("~", "~0").replaceAll("/", "~1");

/** The JSON patch that leads from one value to another; lists are replaced where they differ in length. */
export function jsonPatch(from: Json, to: Json, path = ""): JsonMap[] {
  if (equal(from, to)) return [];
  if (isMap(from) && isMap(to)) {
    const removed = Object.keys(from).filter((key) => to[key] === undefined);
    const rest = Object.entries(to).flatMap(([key, value]) => {
      const at = `${path}/${escaped(key)}`;
      return from[key] === undefined ? [{ op: "add", path: at, value }] : jsonPatch(from[key], value, at);
    });
    return [...removed.map((key) => ({ op: "remove", path: `${path}/${escaped(key)}` })), ...rest];
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
    return to.flatMap((value, index) => jsonPatch(from[index]!, value, `${path}/${index}`));
  return [{ op: "replace", path, value: to }];
}
