/**
 * Writes texts of others into source that is generated: the only way by which they get there, so that none becomes
 * code.
 */
import { printable } from "../observe/printable.ts";

/** Returns a value of JSON as an expression, and as a type that has no other value. */
export function literal(value: unknown): string {
  return printable(JSON.stringify(value ?? null));
}

/** Returns a text as a part of a comment, which it cannot end; it is no tag of a docstring either. */
export function inComment(text: string): string {
  return printable(text)
    .replaceAll("*/", String.raw`*\/`)
    .replaceAll(/@(?=\w)/g, "&#64;");
}

/** Returns the name of a property as it is declared. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** Returns a name as it may be a part of an identifier; empty if nothing of it may. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
