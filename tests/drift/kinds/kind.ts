/** What children of a kind may declare: a body that every one has, and parts that each has in one of several forms. */
import { clone, type Json, type JsonMap, over } from "../json.ts";
import type { Random } from "../random.ts";

/** A part of an object: nothing, or one of the alternatives. */
export interface Part {
  readonly alternatives: readonly JsonMap[];
  /** The server refuses to change it, so it is chosen once for each child. */
  readonly isFixed: boolean;
}

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly base: JsonMap;
  readonly parts: readonly Part[];
  /** It limits what may be in its namespace, so it has one where nothing else is. */
  readonly limits?: boolean;
  /** Others may change its size alone, and its status. */
  readonly scales?: boolean;
  /** It has a schema of its own kind, and the server knows no strategic patches of it. */
  readonly isCustom?: boolean;
}

/** Which alternative each part has, by its index; -1 for none. */
export type Choice = readonly number[];

export function part(...alternatives: JsonMap[]): Part {
  return { alternatives, isFixed: false };
}

export function fixed(...alternatives: JsonMap[]): Part {
  return { alternatives, isFixed: true };
}

/** Puts a value under a path such as `spec.template`. */
export function at(path: string, value: Json): JsonMap {
  return path.split(".").reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonMap;
}

/** A part whose alternatives all stand under one path. */
export function partAt(path: string, ...values: Json[]): Part {
  return part(...values.map((value) => at(path, value)));
}

export function fixedAt(path: string, ...values: Json[]): Part {
  return fixed(...values.map((value) => at(path, value)));
}

/** Labels and annotations, which every kind has. */
const metadata: readonly Part[] = [
  partAt("metadata.labels", { a: "1" }, { a: "2" }, { a: "1", "app.example.com/b": "x" }, { a: "" }, {}),
  partAt("metadata.annotations", { note: "x" }, { note: "", "example.com/c": "d" }, { "example.com/c": "e" }, {}),
];

export function kindOf(given: Omit<Kind, "base"> & { readonly base?: JsonMap }): Kind {
  return { base: {}, ...given, parts: [...metadata, ...given.parts] };
}

export function chosen(kind: Kind, random: Random): Choice {
  const density = random.pick([0.15, 0.3, 0.6]);
  return kind.parts.map(({ alternatives }) => (random.chance(density) ? random.int(alternatives.length) : -1));
}

/** Another choice that differs in some of the parts, and in none that are fixed. */
export function moved(kind: Kind, from: Choice, random: Random): Choice {
  const next = [...from];
  const free = kind.parts.flatMap(({ isFixed }, index) => (isFixed ? [] : [index]));
  for (let count = 1 + random.int(3); count > 0; count--) {
    const index = random.pick(free);
    const had = next[index]! >= 0;
    next[index] = had && random.chance(0.5) ? -1 : random.int(kind.parts[index]!.alternatives.length);
  }
  return next;
}

/** Any choice with the same fixed parts. */
export function another(kind: Kind, from: Choice, random: Random): Choice {
  return chosen(kind, random).map((index, at) => (kind.parts[at]!.isFixed ? from[at]! : index));
}

/** The object without name and namespace that a choice describes. */
export function bodyOf(kind: Kind, choice: Choice): JsonMap {
  let body: JsonMap = { apiVersion: kind.apiVersion, kind: kind.kind, ...clone(kind.base) };
  for (const [index, { alternatives }] of kind.parts.entries()) {
    const alternative = alternatives[choice[index]!];
    if (alternative !== undefined) body = over(body, alternative) as JsonMap;
  }
  return body;
}
