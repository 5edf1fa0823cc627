/** Identifies the items of associative lists. */
import { isFloat } from "../numbers.ts";
import type { ListAtom } from "./atom.ts";
import { keyElement, valueElement } from "./path-element.ts";

/** Returns the path element of an item; an `Error` when it has none, which the caller reports. */
export function itemElement(list: ListAtom, item: unknown): string | Error {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListAtom, item: unknown): string | Error {
  if (item === null || item === undefined) {
    return new Error("associative list with keys may not have a null element");
  }
  if (typeof item !== "object" || Array.isArray(item) || isFloat(item)) {
    return new Error("associative list with keys may not have non-map elements");
  }
  const fields = item as Readonly<Record<string, unknown>>;
  const keys: (readonly [string, unknown])[] = [];
  for (const name of list.keys) {
    const value = Object.hasOwn(fields, name) ? fields[name] : list.element.map?.typeOf(name)?.default;
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length > 0) return keyElement(keys);
  const names = list.keys.map((name) => JSON.stringify(name)).join(" ");
  return new Error(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

function setElement(item: unknown): string | Error {
  if (Array.isArray(item)) return new Error("not supported: associative list with lists as elements");
  if (item === null || item === undefined) {
    return new Error("associative list without keys has an element that's an explicit null");
  }
  if (typeof item === "object" && !isFloat(item))
    return new Error("associative list without keys has an element that's a map type");
  return valueElement(item);
}
