/** Quantities by the name of a resource, such as `cpu`. */
import type { Fields } from "../hooks.ts";
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from "../schema/quantity.ts";

export type ResourceList = Map<string, Quantity>;

export const zero: Quantity = { nanos: 0n, format: "decimal" };

/** Makes the quantity of a plain number. */
export function count(number: number): Quantity {
  return { nanos: BigInt(number) * 1_000_000_000n, format: "decimal" };
}

/** Parses a list; an invalid quantity is left out, because other rules reject it. */
export function resourceList(fields: unknown): ResourceList {
  const list: ResourceList = new Map();
  for (const [name, value] of Object.entries((fields ?? {}) as Fields)) {
    const quantity = parseQuantity(String(value));
    if (!(quantity instanceof Error)) list.set(name, quantity);
  }
  return list;
}

function sum(one: Quantity, other: Quantity): Quantity {
  return { nanos: one.nanos + other.nanos, format: one.nanos === 0n ? other.format : one.format };
}

/** Adds to the first list, in place. */
export function add(into: ResourceList, more: ResourceList): ResourceList {
  for (const [name, quantity] of more) {
    const known = into.get(name);
    into.set(name, known === undefined ? quantity : sum(known, quantity));
  }
  return into;
}

/** Raises the first list to the second, in place. */
export function raise(into: ResourceList, to: ResourceList): ResourceList {
  for (const [name, quantity] of to) {
    const known = into.get(name);
    if (known === undefined || compareQuantities(quantity, known) > 0) into.set(name, quantity);
  }
  return into;
}

/** Returns by how much the first list exceeds the second, never below zero. */
export function excess(list: ResourceList, over: ResourceList): ResourceList {
  const result: ResourceList = new Map();
  for (const [name, quantity] of list) {
    const nanos = quantity.nanos - (over.get(name)?.nanos ?? 0n);
    result.set(name, nanos > 0n ? { ...quantity, nanos } : zero);
  }
  return result;
}

/** Keeps only the given names. */
export function masked(list: ResourceList, names: Iterable<string>): ResourceList {
  const wantedNames = new Set(names);
  return new Map([...list].filter(([name]) => wantedNames.has(name)));
}

export function listFields(list: ResourceList): Fields {
  return Object.fromEntries([...list].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

/** Formats a list as `cpu=1,memory=2Gi`. */
export function listText(list: ResourceList): string {
  const names = [...list.keys()].toSorted();
  return names.map((name) => `${name}=${formatQuantity(list.get(name) ?? zero)}`).join(",");
}
