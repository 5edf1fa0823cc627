/** Names, operators and literals of expressions, and the types that some of them always have. */
import type { CelNode } from "./node.ts";
import { bool, bytes, double, duration, int, nullType, string, timestamp, type Type, typeOf, uint } from "./type.ts";

/** The checker's names for operators. */
export const operators: Readonly<Record<string, string>> = {
  "?:": "_?_:_",
  "[]": "_[_]",
  "[?]": "_[?_]",
  in: "@in",
};

/** Qualified names that are types. */
export const qualifiedTypes: ReadonlyMap<string, Type> = new Map([
  ["google.protobuf.Duration", typeOf(duration)],
  ["google.protobuf.Timestamp", typeOf(timestamp)],
]);

export function variableOf({ args }: CelNode): string {
  return String(args);
}

/** Returns `a.b.c` for a chain of plain names. */
export function nameOf({ op, args }: CelNode): string | undefined {
  if (op === "id") return String(args);
  if (op !== ".") return undefined;
  const [inner, field] = args as [CelNode, string];
  const prefix = nameOf(inner);
  return prefix === undefined ? undefined : `${prefix}.${field}`;
}

export function literalType(value: unknown): Type {
  if (typeof value === "bigint") return int;
  if (typeof value === "number") return double;
  if (typeof value === "string") return string;
  if (typeof value === "boolean") return bool;
  if (value === null) return nullType;
  if (value instanceof Uint8Array) return bytes;
  return uint;
}
