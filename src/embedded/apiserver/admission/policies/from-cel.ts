/** Values of expressions as JSON. */
import { celLibrary } from "../../schema/cel-library.ts";

/** Optional values that are empty are left out of what holds them. */
export function fromCel(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof celLibrary().Optional) return value.hasValue() ? fromCel(value.value()) : undefined;
  if (Array.isArray(value)) return value.map(fromCel).filter((item) => item !== undefined);
  if (typeof value !== "object" || value === null) return value;
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const fields = entries.map(([name, field]) => [String(name), fromCel(field)] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
