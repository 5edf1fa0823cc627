/** Makes the cells of tables. */
import type { Fields, KubeObject } from "../hooks.ts";
import { age } from "./age.ts";

/** Makes one cell; `now` is in milliseconds. */
export type Cell = (object: KubeObject, now: number) => unknown;

/** Returns the value at a path of field names. */
export function get(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

export function list(object: unknown, path: string): Fields[] {
  const value = get(object, path);
  return Array.isArray(value) ? (value as Fields[]) : [];
}

/** Makes a cell with the value at a path, or with `absent`. */
export function at(path: string, absent: unknown = ""): Cell {
  return (object) => {
    const value = get(object, path);
    return value === undefined || value === null || value === "" ? absent : value;
  };
}

export function count(path: string): Cell {
  return (object) => {
    const value = get(object, path);
    return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
  };
}

export const name: Cell = ({ metadata }) => metadata.name ?? "";

export const sinceCreation: Cell = ({ metadata }, now) => age(metadata.creationTimestamp, now);

/** Makes cells with the names and images of the containers of a pod's spec. */
export function containers(path: string): [Cell, Cell] {
  const joined =
    (field: string): Cell =>
    (object) =>
      list(object, `${path}.containers`)
        .map((one) => String(one[field] ?? ""))
        .join(",");
  return [joined("name"), joined("image")];
}

/** Makes a cell with a map of labels as a selector, or with a selector in text form. */
export function labels(path: string): Cell {
  return (object) => {
    const value = get(object, path);
    if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return "<none>";
    return equalities(value as Fields).join(",");
  };
}

function equalities(map: Fields): string[] {
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${String(map[key])}`);
}

/** Makes a cell with a label selector. */
export function selector(path: string): Cell {
  return (object) => {
    const value = get(object, path);
    if (typeof value !== "object" || value === null) return "<none>";
    const parts = equalities((get(value, "matchLabels") ?? {}) as Fields);
    for (const { key, operator, values } of list(value, "matchExpressions")) {
      const options = ((values ?? []) as string[]).toSorted().join(",");
      if (operator === "In") parts.push(`${String(key)} in (${options})`);
      else if (operator === "NotIn") parts.push(`${String(key)} notin (${options})`);
      else parts.push(operator === "Exists" ? String(key) : `!${String(key)}`);
    }
    return parts.length === 0 ? "<none>" : parts.toSorted().join(",");
  };
}

/** Lists the first items, and says how many more there are. */
export function some(items: readonly string[], { most, between = "," }: { most: number; between?: string }): string {
  const text = items.slice(0, most).join(between);
  return items.length > most ? `${text} + ${items.length - most} more...` : text;
}
