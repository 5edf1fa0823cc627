/**
 * Maps whose keys may be any text: `constructor` and `toString` are members of every object, and `__proto__` is its
 * prototype.
 */

/** Returns the entry of a map; `undefined` when there is none. */
export function ownField<T>(fields: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Adds an entry to a map, or replaces it. An assignment to `__proto__` would make no entry. */
export function setField(fields: object, name: string, value: unknown): void {
  if (name !== "__proto__") (fields as Record<string, unknown>)[name] = value;
  else Object.defineProperty(fields, name, { value, configurable: true, enumerable: true, writable: true });
}
